//! The oracle over every program of `programs/`. Each is built with `--contech-check` in one of ten ways (-O0, -O1,
//! -O2, -O3 and -O3 -march=native, with and without LTO), another one in the next commit; in all ten with `cargo test-all
//! --matrix` and if the command line names it. Each build records both forms in one run. Every context's fast form must decode to its naive form, block by block and operand
//! by operand.
//!
//! What cannot be compared is listed with the reason, and a listed program that can be compared is a failure.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use contech_tests::matrix;
use contech_tests::outputs::Outputs;
use contech_tests::program::{self, Check, Language, Mode, Program};
use contech_tests::recording::{Recording, middle};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::{Toolchain, sources};
use contech_tests::verdict::{self, Tools};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

/// Optimisation levels with further flags.
const LEVELS: [(&str, &[&str]); 5] = [
    ("O0", &[]),
    ("O1", &[]),
    ("O2", &[]),
    ("O3", &[]),
    ("O3", &["-march=native"]),
];

/// Flags of link-time optimisation.
const LTO: [&str; 2] = ["-flto", "-fuse-ld=lld"];

/// Programs of which nothing can be compared above a level: name, level and reason.
const UNCOMPARED: [(&str, &str, &str); 1] = [(
    "killed",
    "O0",
    "SIGKILL takes the buffers along; only at -O0 is one full, and in the file, before",
)];

fn main() {
    let arguments = Arguments::from_args();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let programs = match program::all(&dir) {
        Ok(programs) => programs,
        Err(error) => {
            eprintln!("{error:#}");
            std::process::exit(1);
        }
    };
    if !arguments.list {
        Outputs::get();
    }
    let mut trials = vec![Trial::test("every_listed_program_exists", {
        let names: BTreeSet<String> = programs.iter().map(|p| p.name.clone()).collect();
        move || match UNCOMPARED.iter().find(|(name, ..)| !names.contains(*name)) {
            Some((name, ..)) => Err(Failed::from(format!("there is no program {name}"))),
            None => Ok(()),
        }
    })];
    let mut taken = BTreeSet::new();
    for program in programs.into_iter().filter(Program::can_run) {
        for (level, flags) in matrix::ways(&program.name, &ways(&program)) {
            let way = format!("{level}{}", flags.concat()).replace("-fuse-ld=lld", "");
            let name = format!("{}::{way}", program.name);
            taken.insert(way);
            let program = program.clone();
            let from = sources(&program).ok();
            trials.push(verdict::trial(name, Tools::Recording, &from, move || {
                trial(program, level, &flags)
            }));
        }
    }
    trials.push(Trial::test(
        "every_way_is_taken_by_some_program",
        move || match taken.len() {
            10 => Ok(()),
            _ => Err(Failed::from(format!("only {taken:?}"))),
        },
    ));
    libtest_mimic::run(&arguments, trials).exit();
}

/// The ways to build a program: level and further flags.
fn ways(program: &Program) -> Vec<(&'static str, Vec<&'static str>)> {
    // flang uses the same LLVM, so one level shows that its bitcode links as clang's does.
    let fortran = Language::of(&program.source) == Language::Fortran;
    let plain = LEVELS.map(|(level, flags)| (level, flags.to_vec()));
    let linked = LEVELS.map(|(level, flags)| (level, [flags, &LTO].concat()));
    let plain = plain
        .into_iter()
        .filter(|(level, _)| !fortran || *level != "O1");
    let linked = linked
        .into_iter()
        .filter(|(level, _)| !fortran || *level == "O2");
    plain.chain(linked).collect()
}

fn trial(mut program: Program, level: &str, flags: &[&str]) -> Result<()> {
    let scratch = Scratch::new(&format!(
        "checked/{}-{level}{}",
        program.name,
        flags.concat()
    ))?;
    if matches!(program.check, Some(Check::LockOrder | Check::LogOrder)) {
        // Without arguments these programs repeat their work less often, which is enough here.
        program.args.clear();
    }
    program.flags.push("--contech-check".to_owned());
    program.flags.extend(flags.iter().map(|f| (*f).to_owned()));
    let executable = Toolchain::contech().program(&program, level, scratch.dir())?;
    let mut command = Command::new(executable);
    command.args(&program.args).current_dir(scratch.dir());
    command.envs(program.env.iter().map(|(k, v)| (k, v)));
    let recording = Recording::of(&mut command, &scratch.join("traces"))?;
    recording.run.clone().expect(&program.expect)?;
    let mut compared = 0;
    for trace in &recording.traces {
        compared += compare(&program, trace)?;
    }
    let listed = |(name, above, _): &&(&str, &str, &str)| *name == program.name && level > *above;
    let listed = UNCOMPARED.iter().find(listed);
    match (compared, listed) {
        (0, None) => bail!("nothing was compared: {}", recording.run),
        (1.., Some((.., why))) => bail!("{compared} blocks were compared, although: {why}"),
        _ => {}
    }
    scratch.done();
    Ok(())
}

/// Makes a graph of the trace; returns the number of blocks compared.
fn compare(program: &Program, trace: &Path) -> Result<u64> {
    let done = middle(trace, &trace.with_extension("tg"))?;
    let said: Value = serde_json::from_slice(&done.stdout).with_context(|| done.to_string())?;
    let number = |key: &str| said["check"][key].as_u64().unwrap_or(0);
    if number("mismatches") > 0 {
        bail!(
            "{} mismatches in {} blocks: {:#}",
            number("mismatches"),
            number("compared"),
            said["check"]["differences"]
        );
    }
    if program.mode != Mode::Incomplete {
        done.ok()?;
    }
    let _ = fs::remove_file(trace);
    Ok(number("compared"))
}
