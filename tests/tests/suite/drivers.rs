//! `contech-cc` and `contech-c++` in place of clang: same files, same messages, same exit codes, in every way in
//! which a build calls a compiler. What they build can be recorded.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use contech_tests::matrix::ways;
use contech_tests::outputs::Outputs;
use contech_tests::process::{Finished, run};
use contech_tests::recording::{Recording, backend, backend_json};
use contech_tests::scratch::Scratch;

fn cc(dir: &Path, words: &[&str]) -> Result<Finished> {
    run(Command::new(Outputs::get().cc())
        .current_dir(dir)
        .args(words))
}

fn cxx(dir: &Path, words: &[&str]) -> Result<Finished> {
    run(Command::new(Outputs::get().cxx())
        .current_dir(dir)
        .args(words))
}

fn clang(dir: &Path, words: &[&str]) -> Result<Finished> {
    run(Command::new("clang-22").current_dir(dir).args(words))
}

/// Writes two sources and a header; the program prints 12.
fn two_sources(scratch: &Scratch) -> Result<()> {
    scratch.write("value.h", "#define VALUE 4\nint triple(int);\n")?;
    scratch.write("main.c", "#include <stdio.h>\n#include \"value.h\"\nint cell;\nint main(void) { cell = triple(VALUE); printf(\"%d\\n\", cell); return 0; }\n")?;
    scratch.write("triple.c", "#include \"value.h\"\nstatic int last;\nint triple(int x) { last = 3 * x; return last; }\n")?;
    Ok(())
}

/// Records `./name` in `dir`: it must print `output`, and its graph must verify and have executed these functions.
#[track_caller]
fn records(dir: &Path, name: &str, output: &str, functions: &[&str]) -> Result<()> {
    let recording = Recording::of(
        Command::new(format!("./{name}")).current_dir(dir),
        &dir.join("traces"),
    )?;
    recording.run.clone().ok()?;
    assert_eq!(recording.run.out(), output);
    let graphs = recording.graphs(true)?;
    let blocks = backend(&["dump", "--blocks", "0:*"], &graphs[0])?
        .ok()?
        .out();
    for function in functions {
        assert!(
            blocks.contains(function),
            "no block of {function} was executed:\n{blocks}"
        );
    }
    fs::remove_dir_all(dir.join("traces"))?;
    Ok(())
}

/// Runs a test in a scratch directory with the two sources.
fn with_sources(name: &str, test: impl Fn(&Scratch) -> Result<()>) -> Result<()> {
    let scratch = Scratch::new(&format!("drivers/{name}"))?;
    two_sources(&scratch)?;
    test(&scratch)?;
    scratch.done();
    Ok(())
}

const BOTH: &[&str] = &["main", "triple"];

#[test]
fn several_sources_in_one_line() -> Result<()> {
    with_sources("several", |s| {
        cc(s.dir(), &["main.c", "triple.c", "-o", "p"])?.ok()?;
        records(s.dir(), "p", "12\n", BOTH)
    })
}

#[test]
fn the_default_output_is_a_out() -> Result<()> {
    with_sources("a_out", |s| {
        cc(s.dir(), &["main.c", "triple.c"])?.ok()?;
        records(s.dir(), "a.out", "12\n", BOTH)
    })
}

#[test]
fn compile_then_link_only() -> Result<()> {
    with_sources("link_only", |s| {
        cc(s.dir(), &["-c", "main.c", "triple.c"])?.ok()?;
        assert!(s.join("main.o").exists() && s.join("triple.o").exists());
        cc(s.dir(), &["main.o", "triple.o", "-o", "p"])?.ok()?;
        records(s.dir(), "p", "12\n", BOTH)
    })
}

#[test]
fn a_clang_object_and_an_instrumented_one_link_together() -> Result<()> {
    with_sources("mixed", |s| {
        cc(s.dir(), &["-c", "main.c"])?.ok()?;
        clang(s.dir(), &["-c", "triple.c"])?.ok()?;
        let linked = cc(s.dir(), &["main.o", "triple.o", "-o", "p"])?.ok()?;
        let said = "contech-cc: warning: triple.o was not compiled with contech-cc: its code will not be recorded\n";
        ensure!(linked.err() == said, "{}", linked.err());
        run(Command::new("ar")
            .current_dir(s.dir())
            .args(["rcs", "libtriple.a", "triple.o"]))?
        .ok()?;
        let linked = cc(s.dir(), &["main.o", "triple.o", "libtriple.a", "-o", "p"])?.ok()?;
        let said = linked.err();
        ensure!(
            said.contains("2 files were not compiled with contech-cc")
                && said.contains("(the first is triple.o)"),
            "{said}"
        );
        ensure!(said.lines().count() == 1, "{said}");
        records(s.dir(), "p", "12\n", &["main"])
    })
}

#[test]
fn a_static_archive() -> Result<()> {
    with_sources("archive", |s| {
        cc(s.dir(), &["-c", "-O2", "triple.c"])?.ok()?;
        run(Command::new("ar")
            .current_dir(s.dir())
            .args(["rcs", "libtriple.a", "triple.o"]))?
        .ok()?;
        for library in ["-ltriple", "libtriple.a"] {
            let linked = cc(s.dir(), &["-O2", "main.c", "-L.", library, "-o", "p"])?.ok()?;
            ensure!(linked.stderr.is_empty(), "{}", linked.err());
            records(s.dir(), "p", "12\n", BOTH)?;
        }
        Ok(())
    })
}

#[test]
fn a_shared_library() -> Result<()> {
    with_sources("shared", |s| {
        cc(
            s.dir(),
            &["-shared", "-fPIC", "triple.c", "-o", "libtriple.so"],
        )?
        .ok()?;
        cc(
            s.dir(),
            &["main.c", "-L.", "-ltriple", "-Wl,-rpath,$ORIGIN", "-o", "p"],
        )?
        .ok()?;
        records(s.dir(), "p", "12\n", BOTH)
    })
}

#[test]
fn an_instrumented_shared_library_in_a_plain_program() -> Result<()> {
    with_sources("shared_plain", |s| {
        cc(
            s.dir(),
            &["-shared", "-fPIC", "triple.c", "-o", "libtriple.so"],
        )?
        .ok()?;
        clang(
            s.dir(),
            &["main.c", "-L.", "-ltriple", "-Wl,-rpath,$ORIGIN", "-o", "p"],
        )?
        .ok()?;
        records(s.dir(), "p", "12\n", &["triple"])
    })
}

#[test]
fn a_relocatable_link() -> Result<()> {
    with_sources("relocatable", |s| {
        cc(s.dir(), &["-c", "main.c", "triple.c"])?.ok()?;
        cc(s.dir(), &["-r", "main.o", "triple.o", "-o", "both.o"])?.ok()?;
        cc(s.dir(), &["both.o", "-o", "p"])?.ok()?;
        records(s.dir(), "p", "12\n", BOTH)
    })
}

#[test]
fn link_time_optimisation_full_and_thin() -> Result<()> {
    with_sources("lto", |s| {
        for flag in ways("lto", &["-flto", "-flto=thin"]) {
            cc(s.dir(), &["-O2", flag, "-c", "main.c", "triple.c"])?.ok()?;
            cc(s.dir(), &["-O2", flag, "main.o", "triple.o", "-o", "p"])?.ok()?;
            // `triple` is inlined into main, and its blocks are counted once, not twice.
            records(s.dir(), "p", "12\n", &["main"]).context(flag)?;
            cc(
                s.dir(),
                &[
                    "-O1",
                    flag,
                    "-g",
                    "-fno-inline",
                    "main.c",
                    "triple.c",
                    "-o",
                    "q",
                ],
            )?
            .ok()?;
            records(s.dir(), "q", "12\n", BOTH).context(flag)?;
        }
        Ok(())
    })
}

#[test]
fn no_function_is_instrumented_twice_under_lto() -> Result<()> {
    with_sources("lto_once", |s| {
        let mut counts = Vec::new();
        for flags in [
            &["-O1", "-fno-inline"][..],
            &["-O1", "-fno-inline", "-flto"],
            &["-O1", "-fno-inline", "-flto=thin"],
        ] {
            let mut words = flags.to_vec();
            words.extend(["main.c", "triple.c", "-o", "p"]);
            cc(s.dir(), &words)?.ok()?;
            let recording =
                Recording::of(Command::new("./p").current_dir(s.dir()), &s.join("traces"))?;
            let graphs = recording.graphs(true)?;
            let stats = backend_json(&["stats"], &graphs[0])?;
            counts.push(stats["writes"].as_u64().context("writes")?);
            fs::remove_dir_all(s.join("traces"))?;
        }
        assert!(
            counts.iter().all(|&c| c == counts[0]),
            "writes without, with full, with thin LTO: {counts:?}"
        );
        Ok(())
    })
}

#[test]
fn debug_information_gives_lines() -> Result<()> {
    with_sources("debug", |s| {
        cc(s.dir(), &["-g", "-O1", "main.c", "triple.c", "-o", "p"])?.ok()?;
        records(s.dir(), "p", "12\n", &["triple.c 3", "main.c 4"])
    })
}

#[test]
fn preprocessing_and_assembly_are_as_with_clang() -> Result<()> {
    with_sources("stages", |s| {
        let ours = cc(s.dir(), &["-E", "main.c"])?.ok()?;
        let theirs = clang(s.dir(), &["-E", "main.c"])?.ok()?;
        assert_eq!(ours.out(), theirs.out());
        cc(s.dir(), &["-S", "triple.c"])?.ok()?;
        let assembly = fs::read_to_string(s.join("triple.s"))?;
        assert!(assembly.contains("triple:"), "{assembly}");
        cc(s.dir(), &["-c", "triple.s"])?.ok()?;
        cc(s.dir(), &["main.c", "triple.o", "-o", "p"])?.ok()?;
        records(s.dir(), "p", "12\n", BOTH)?;
        cc(s.dir(), &["-fsyntax-only", "main.c"])?.ok()?;
        Ok(())
    })
}

#[test]
fn llvm_ir_in_and_out() -> Result<()> {
    with_sources("ir", |s| {
        cc(
            s.dir(),
            &["-S", "-emit-llvm", "triple.c", "-o", "triple.ll"],
        )?
        .ok()?;
        clang(s.dir(), &["-c", "-emit-llvm", "main.c", "-o", "main.bc"])?.ok()?;
        cc(s.dir(), &["main.bc", "triple.ll", "-o", "p"])?.ok()?;
        records(s.dir(), "p", "12\n", BOTH)
    })
}

#[test]
fn dependency_files_are_as_with_clang() -> Result<()> {
    with_sources("dependencies", |s| {
        cc(s.dir(), &["-MMD", "-MP", "-c", "main.c", "-o", "main.o"])?.ok()?;
        let ours = fs::read_to_string(s.join("main.d"))?;
        clang(s.dir(), &["-MMD", "-MP", "-c", "main.c", "-o", "main.o"])?.ok()?;
        assert_eq!(ours, fs::read_to_string(s.join("main.d"))?);
        let ours = cc(s.dir(), &["-M", "main.c"])?.ok()?;
        assert_eq!(ours.out(), clang(s.dir(), &["-M", "main.c"])?.ok()?.out());
        cc(
            s.dir(),
            &["-MD", "-MF", "deps.txt", "-MT", "target", "-c", "main.c"],
        )?
        .ok()?;
        assert!(fs::read_to_string(s.join("deps.txt"))?.starts_with("target:"));
        Ok(())
    })
}

#[test]
fn response_files() -> Result<()> {
    with_sources("response", |s| {
        s.write("inner.rsp", "triple.c -O1\n")?;
        s.write("words.rsp", "main.c\n@inner.rsp \"-o\" 'p q'\n")?;
        cc(s.dir(), &["@words.rsp"])?.ok()?;
        records(s.dir(), "p q", "12\n", BOTH)?;
        s.write("compile.rsp", "-c main.c")?;
        cc(s.dir(), &["@compile.rsp"])?.ok()?;
        assert!(s.join("main.o").exists());
        Ok(())
    })
}

#[test]
fn language_by_option_and_source_from_standard_input() -> Result<()> {
    with_sources("language", |s| {
        fs::rename(s.join("triple.c"), s.join("triple.txt"))?;
        cc(
            s.dir(),
            &["-x", "c", "triple.txt", "-x", "none", "main.c", "-o", "p"],
        )?
        .ok()?;
        records(s.dir(), "p", "12\n", BOTH)?;
        let ours = Outputs::get().cc();
        let mut shell = Command::new("sh");
        shell
            .current_dir(s.dir())
            .args(["-c", "\"$0\" -x c - -c -o triple.o < triple.txt"])
            .arg(ours);
        run(&mut shell)?.ok()?;
        cc(s.dir(), &["main.c", "triple.o", "-o", "p"])?.ok()?;
        records(s.dir(), "p", "12\n", BOTH)
    })
}

#[test]
fn the_cxx_driver_links_the_cxx_library() -> Result<()> {
    let scratch = Scratch::new("drivers/cxx")?;
    scratch.write("m.cpp", "#include <iostream>\n#include <string>\nint main() { std::string s(\"twelve\"); std::cout << s << '\\n'; }\n")?;
    cxx(scratch.dir(), &["-O2", "m.cpp", "-o", "p"])?.ok()?;
    records(scratch.dir(), "p", "twelve\n", &["main"])?;
    cxx(scratch.dir(), &["-c", "m.cpp"])?.ok()?;
    cxx(scratch.dir(), &["m.o", "-o", "p"])?.ok()?;
    records(scratch.dir(), "p", "twelve\n", &["main"])?;
    scratch.done();
    Ok(())
}

#[test]
fn static_and_position_dependent_executables() -> Result<()> {
    with_sources("models", |s| {
        let all = [
            &["-no-pie"][..],
            &["-fPIE", "-pie"],
            &["-fno-plt", "-Wl,-z,now"],
            &["-fvisibility=hidden"],
            &["-mcmodel=medium"],
            &[
                "-ffunction-sections",
                "-fdata-sections",
                "-Wl,--gc-sections",
            ],
        ];
        for flags in ways("models", &all) {
            let mut words = flags.to_vec();
            words.extend(["-O2", "-fno-inline", "main.c", "triple.c", "-o", "p"]);
            cc(s.dir(), &words)?.ok()?;
            records(s.dir(), "p", "12\n", BOTH).with_context(|| format!("{flags:?}"))?;
        }
        Ok(())
    })
}

#[test]
fn other_linkers() -> Result<()> {
    with_sources("linkers", |s| {
        let all = ["-fuse-ld=bfd", "-fuse-ld=lld", "-fuse-ld=gold"];
        for linker in ways("linkers", &all) {
            cc(s.dir(), &[linker, "main.c", "triple.c", "-o", "p"])?.ok()?;
            records(s.dir(), "p", "12\n", BOTH).context(linker)?;
        }
        Ok(())
    })
}

#[test]
fn a_static_build_records_and_commands_find_the_files_of_their_folder() -> Result<()> {
    with_sources("static", |s| {
        let linked = cc(s.dir(), &["-static", "main.c", "triple.c", "-o", "p"])?.ok()?;
        assert!(linked.err().contains("-static is left out"), "{linked}");
        run(Command::new("./p").current_dir(s.dir()))?.ok()?;
        let here = |name: &str, words: &[&str]| {
            let mut command = Command::new(Outputs::get().command(name));
            run(command.current_dir(s.dir()).args(words))
        };
        here("contech-middle", &[])?.ok()?;
        let blocks = here("contech-backend", &["dump", "--blocks", "0:*"])?.ok()?;
        assert!(blocks.out().contains("triple"), "{blocks}");
        fs::remove_file(s.join("graph.tg"))?;
        let none = here("contech-backend", &["stats"])?.expect("exit 1")?;
        assert!(none.err().contains("no graph.tg in this folder"), "{none}");
        Ok(())
    })
}

#[test]
fn messages_and_exit_codes_are_clangs() -> Result<()> {
    with_sources("messages", |s| {
        s.write("wrong.c", "int main(void) { return undeclared; }\n")?;
        s.write("warns.c", "int main(void) { int unused; return 0; }\n")?;
        let cases: [&[&str]; 6] = [
            &["-c", "wrong.c"],
            &["-Wall", "-Wextra", "-c", "warns.c"],
            &["-c", "missing.c"],
            &[],
            &["--version"],
            &["-dumpmachine"],
        ];
        for words in cases {
            let (ours, theirs) = (cc(s.dir(), words)?, clang(s.dir(), words)?);
            assert_eq!(ours.outcome(), theirs.outcome(), "{ours}\n{theirs}");
            let out = ours.out();
            // `--version` has one line more.
            let out = out.split("Contech ").next().unwrap_or_default();
            assert_eq!(out, theirs.out());
            // A driver uses its own name in its own messages.
            let name = |e: String| {
                e.replace("contech-cc", "clang")
                    .replace("clang-22", "clang")
            };
            assert_eq!(name(ours.err()), name(theirs.err()));
        }
        // A failed link gives the linker's message, and the exit code is not 0.
        let ours = cc(s.dir(), &["main.c", "-o", "p"])?;
        assert_ne!(ours.outcome(), "exit 0");
        assert!(ours.err().contains("triple"), "{ours}");
        assert!(!s.join("p").exists());
        Ok(())
    })
}

#[test]
fn queries_pass_through() -> Result<()> {
    with_sources("queries", |s| {
        for words in [
            &["-print-search-dirs"][..],
            &["-print-file-name=libc.so"],
            &["-print-resource-dir"],
            &["-dumpversion"],
        ] {
            let (ours, theirs) = (cc(s.dir(), words)?.ok()?, clang(s.dir(), words)?.ok()?);
            assert_eq!(ours.out(), theirs.out(), "{words:?}");
        }
        assert!(cc(s.dir(), &["-v"])?.ok()?.err().contains("clang version"));
        assert!(
            cc(s.dir(), &["-###", "-c", "main.c"])?
                .ok()?
                .err()
                .contains("-cc1")
        );
        assert!(!s.join("main.o").exists());
        Ok(())
    })
}

#[test]
fn two_compilations_give_the_same_object() -> Result<()> {
    with_sources("reproducible", |s| {
        cc(s.dir(), &["-O2", "-g", "-c", "triple.c", "-o", "a.o"])?.ok()?;
        cc(s.dir(), &["-O2", "-g", "-c", "triple.c", "-o", "b.o"])?.ok()?;
        assert_eq!(fs::read(s.join("a.o"))?, fs::read(s.join("b.o"))?);
        Ok(())
    })
}

#[test]
fn contech_options_by_flag_and_by_environment() -> Result<()> {
    with_sources("options", |s| {
        cc(
            s.dir(),
            &[
                "--contech-naive",
                "--contech-mode=full",
                "main.c",
                "triple.c",
                "-o",
                "p",
            ],
        )?
        .ok()?;
        records(s.dir(), "p", "12\n", BOTH)?;
        let explained = cc(
            s.dir(),
            &["--contech-explain", "main.c", "triple.c", "-o", "p"],
        )?
        .ok()?;
        assert!(explained.err().contains("triple"), "{explained}");
        let mut command = Command::new(Outputs::get().cc());
        command
            .current_dir(s.dir())
            .env("CONTECH_OPTIONS", "--contech-mode=sync")
            .args(["main.c", "triple.c", "-o", "p"]);
        run(&mut command)?.ok()?;
        let recording = Recording::of(Command::new("./p").current_dir(s.dir()), &s.join("traces"))?;
        let graphs = recording.graphs(true)?;
        let stats = backend_json(&["stats"], &graphs[0])?;
        assert_eq!(stats["accesses"].as_u64(), Some(0), "{stats}");
        Ok(())
    })
}

#[test]
fn code_that_cannot_be_recorded_is_reported() -> Result<()> {
    let scratch = Scratch::new("drivers/unrecorded")?;
    scratch.write("m.c", "int x;\nint main(void) { __asm__ volatile(\"movl $5, %0\" : \"=m\"(x) : : \"memory\"); return x - 5; }\n")?;
    cc(scratch.dir(), &["m.c", "-o", "p"])?.ok()?;
    let recording = Recording::of(
        Command::new("./p").current_dir(scratch.dir()),
        &scratch.join("traces"),
    )?;
    recording.run.clone().ok()?;
    let graphs = recording.graphs(true)?;
    let stats = backend(&["stats"], &graphs[0])?.ok()?;
    let all = format!("{}{}", stats.out(), stats.err()).to_lowercase();
    assert!(
        all.contains("asm") || all.contains("assembly"),
        "inline assembly is not mentioned: {stats}"
    );
    scratch.done();
    Ok(())
}
