//! The oracle over random programs: a quarter of 128 seeds, another one in another commit (2,000
//! seeds with `cargo test-all --matrix`), each compiled in the way whose turn it is, recorded in
//! both forms at once and compared, and run natively for the output. Then follow the seeds and the
//! programs that were kept because they once failed (`tests/random`).
//!
//! A failure names the seed and the command that shows it again, alone or smaller.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use contech_tests::matrix;
use contech_tests::outputs::Outputs;
use contech_tests::program::is_cxx;
use contech_tests::random::check::{Compared, Files};
use contech_tests::random::way::Way;
use contech_tests::random::{check, generate};
use contech_tests::scratch::Scratch;
use contech_tests::verdict::{self, Tools};
use libtest_mimic::{Arguments, Failed, Trial};

/// Seeds of which a commit takes a quarter, seeds of the whole matrix, and seeds of one trial.
const SEEDS: u64 = 128;
const MATRIX_SEEDS: u64 = 2000;
const PART: u64 = 16;

fn main() {
    let arguments = Arguments::from_args();
    if !arguments.list {
        Outputs::get();
    }
    let mut trials = Vec::new();
    let seeds = if matrix::whole() { MATRIX_SEEDS } else { SEEDS };
    let parts: Vec<u64> = (0..seeds / PART).collect();
    for first in matrix::share("seeds", &parts, 4).into_iter().map(|n| n * PART) {
        let seeds: Vec<(u64, Way)> = (first..first + PART).map(|s| (s, Way::of_seed(s))).collect();
        trials.push(trial(
            format!("seeds_{first}_to_{}", first + PART - 1),
            Vec::new(),
            move |dir| all(&seeds, dir),
        ));
    }
    let kept = kept_seeds().and_then(|seeds| Ok((seeds, kept_programs()?)));
    match kept {
        Ok((seeds, programs)) => {
            let name = "seeds_that_once_failed".to_owned();
            let text = format!("{seeds:?}").into_bytes();
            trials.push(trial(name, text, move |dir| all(&seeds, dir)));
            for program in programs {
                let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let text = fs::read(&program).unwrap_or_default();
                let run = move |dir: &Path| one_kept(&program, dir);
                trials.push(trial(format!("kept_{name}"), text, run));
            }
        }
        Err(error) => trials
            .push(Trial::test("tests_random", move || Err(Failed::from(format!("{error:#}"))))),
    }
    trials.push(Trial::test("a_seed_gives_the_same_program_again", || same().map_err(failed)));
    trials.push(trial(
        "a_program_that_clang_itself_cannot_compile_is_counted".to_owned(),
        Vec::new(),
        crashing,
    ));
    libtest_mimic::run(&arguments, trials).exit();
}

/// A trial of what this executable generates, or of a text that it reads.
fn trial(
    name: String,
    text: Vec<u8>,
    work: impl FnOnce(&Path) -> Result<()> + Send + 'static,
) -> Trial {
    verdict::trial(name.clone(), Tools::All, &text, move || {
        let scratch = Scratch::new(&format!("random/{name}"))?;
        work(scratch.dir())?;
        scratch.done();
        Ok(())
    })
}

#[expect(clippy::needless_pass_by_value, reason = "used with map_err")]
fn failed(error: anyhow::Error) -> Failed {
    Failed::from(format!("{error:#}"))
}

/// Checks every seed, and names all that fail.
fn all(seeds: &[(u64, Way)], dir: &Path) -> Result<()> {
    let mut failures = Vec::new();
    let mut uncompiled = Vec::new();
    for (seed, way) in seeds {
        match check_kept(*seed, way, dir) {
            Ok(done) if done.uncompiled > 0 => uncompiled.push(seed),
            Ok(_) => {}
            Err(error) => failures.push(format!(
                "seed {seed}, {way}: {error:#}\nagain, and smaller: cargo run --release -p contech-tests --bin \
                 random-programs -- --seeds {seed}..{} {way} --minimise",
                seed + 1
            )),
        }
    }
    // Such programs are rare. Many of them would be a test of nothing.
    if uncompiled.len() > 2 {
        failures.push(format!("clang itself cannot compile {uncompiled:?}"));
    }
    if !failures.is_empty() {
        bail!("{}", failures.join("\n\n"));
    }
    Ok(())
}

/// Checks a seed. What is compiled is kept for the next run.
fn check_kept(seed: u64, way: &Way, dir: &Path) -> Result<Compared> {
    let files = check::write(&generate(seed, &BTreeSet::new()), dir)?;
    let kept = Some(format!("random-{seed}"));
    check::check_files(&Files { kept, ..files }, way, dir)
}

fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("random")
}

fn kept_seeds() -> Result<Vec<(u64, Way)>> {
    let text = fs::read_to_string(dir().join("seeds.txt"))?;
    let lines = text.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty());
    lines
        .map(|line| {
            let (seed, level) = line.split_once(' ').context("SEED LEVEL")?;
            let level = level.split('#').next().unwrap_or("").trim();
            Ok((
                seed.parse().with_context(|| line.to_owned())?,
                Way { level: level.to_owned(), lagging: false },
            ))
        })
        .collect()
}

fn kept_programs() -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir())? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "c" || e == "cpp") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Checks a kept program, which lists its levels in lines `// LEVEL: FLAGS`.
fn one_kept(program: &Path, dir: &Path) -> Result<()> {
    let text = fs::read_to_string(program)?;
    let levels: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("// LEVEL: ")).collect();
    if levels.is_empty() {
        bail!("{} names no LEVEL", program.display());
    }
    let files = Files { units: vec![program.to_owned()], cxx: is_cxx(program), ..Files::default() };
    for level in levels {
        let way = Way { level: level.to_owned(), lagging: false };
        check::check_files(&files, &way, dir)
            .with_context(|| format!("{} at {level}", program.display()))?;
    }
    Ok(())
}

fn same() -> Result<()> {
    for seed in [0, 1, 7, 1234] {
        let nothing = BTreeSet::new();
        let (a, b) = (generate(seed, &nothing), generate(seed, &nothing));
        // Leaving a statement out changes nothing before it.
        let less = generate(seed, &BTreeSet::from([a.statements - 1]));
        if a.units != b.units || less.statements != a.statements || less.units == a.units {
            bail!("seed {seed} gives another program");
        }
    }
    Ok(())
}

/// clang crashes at every level but -O0: on one program with and without the plugin, on the other
/// one only with it.
fn crashing(dir: &Path) -> Result<()> {
    let check = |when: &str| {
        let unit = dir.join("unit.c");
        let crash = "#pragma clang __debug crash\n#endif\nint main(void) { return 0; }\n";
        fs::write(&unit, format!("#if {when}\n{crash}"))?;
        let files = Files { units: vec![unit], ..Files::default() };
        check::check_files(&files, &Way::of_seed(1), dir)
    };
    let done = check("defined __OPTIMIZE__")?;
    if (done.programs, done.uncompiled) != (0, 1) {
        bail!("{done:?}");
    }
    match check("defined __OPTIMIZE__ && defined __CONTECH__") {
        Ok(done) => bail!("a crash with the plugin alone is no failure: {done:?}"),
        Err(_) => Ok(()),
    }
}
