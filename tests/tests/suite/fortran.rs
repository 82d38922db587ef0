//! `contech-fc` in place of flang: modules, preprocessing, libraries, CMake and configure. For what it cannot do it
//! prints one message that says what to do. The programs `fortran_*` of `programs/` say what is recorded.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use contech_tests::matrix::ways;
use contech_tests::outputs::Outputs;
use contech_tests::process::{Finished, run};
use contech_tests::recording::{Recording, backend, backend_json};
use contech_tests::scratch::Scratch;

fn fc(dir: &Path, words: &[&str]) -> Result<Finished> {
    run(Command::new(Outputs::get().fc())
        .current_dir(dir)
        .args(words))
}

fn flang(dir: &Path, words: &[&str]) -> Result<Finished> {
    run(Command::new("flang-22").current_dir(dir).args(words))
}

const MODULE: &str = "module numbers\n  implicit none\n  integer :: cell = 4\ncontains\n  integer function triple(x)\n    integer, intent(in) :: x\n    cell = 3 * x\n    triple = cell\n  end function\nend module\n";
const MAIN: &str =
    "program main\n  use numbers\n  implicit none\n  print '(i0)', triple(cell)\nend program\n";

/// Runs a test in a scratch directory with a module and a program that prints 12.
fn with_sources(name: &str, test: impl Fn(&Scratch) -> Result<()>) -> Result<()> {
    let scratch = Scratch::new(&format!("fortran/{name}"))?;
    scratch.write("numbers.f90", MODULE)?;
    scratch.write("main.f90", MAIN)?;
    test(&scratch)?;
    scratch.done();
    Ok(())
}

/// Records `./name` in `dir`: it must print 12, and its graph must have the module's function under its Fortran name.
#[track_caller]
fn records(dir: &Path, name: &str) -> Result<()> {
    let recording = Recording::of(
        Command::new(format!("./{name}")).current_dir(dir),
        &dir.join("traces"),
    )?;
    recording.run.clone().ok()?;
    assert_eq!(recording.run.out(), "12\n");
    let graphs = recording.graphs(true)?;
    let blocks = backend(&["dump", "--blocks", "0:*"], &graphs[0])?.ok()?;
    // The main program itself may be inlined into C's main.
    assert!(blocks.out().contains("numbers::triple"), "{blocks}");
    fs::remove_dir_all(dir.join("traces"))?;
    Ok(())
}

#[test]
fn module_folders_separate_compilation_and_levels() -> Result<()> {
    with_sources("modules", |s| {
        for level in ways("modules", &["-O0", "-O1", "-O2", "-O3"]) {
            s.subdir("mods")?;
            fc(s.dir(), &[level, "-g", "-J", "mods", "-c", "numbers.f90"])?.ok()?;
            assert!(s.join("mods/numbers.mod").exists() && s.join("numbers.o").exists());
            fc(s.dir(), &[level, "-Imods", "-c", "main.f90", "-o", "m.o"])?.ok()?;
            fc(s.dir(), &["m.o", "numbers.o", "-o", "p"])?.ok()?;
            records(s.dir(), "p")?;
            fs::remove_dir_all(s.join("mods"))?;
        }
        let words = ["-module-dir", ".", "numbers.f90", "main.f90", "-o", "p"];
        assert_eq!(fc(s.dir(), &words)?.ok()?.err(), "");
        records(s.dir(), "p")
    })
}

#[test]
fn lines_are_those_of_the_source() -> Result<()> {
    with_sources("lines", |s| {
        fc(s.dir(), &["-O0", "numbers.f90", "main.f90", "-o", "p"])?.ok()?;
        let mut command = Command::new("./p");
        let recording = Recording::of(command.current_dir(s.dir()), &s.join("traces"))?;
        let graphs = recording.graphs(true)?;
        let said = backend(&["dump", "--blocks", "0:*"], &graphs[0])?.ok()?;
        let triple: Vec<_> = said
            .out()
            .lines()
            .filter(|l| l.contains("triple"))
            .map(str::to_owned)
            .collect();
        assert!(!triple.is_empty(), "{said}");
        for line in triple {
            let place = line.trim_end();
            let inside = (5..=9).any(|n| place.ends_with(&format!(" {n}")));
            assert!(place.contains("numbers.f90") && inside, "{place}");
        }
        Ok(())
    })
}

#[test]
fn libraries_linkers_and_link_time_optimisation() -> Result<()> {
    with_sources("libraries", |s| {
        let shared = [
            "-shared",
            "-fPIC",
            "numbers.f90",
            "-Wl,-soname,libn.so",
            "-o",
            "libn.so",
        ];
        fc(s.dir(), &shared)?.ok()?;
        fc(
            s.dir(),
            &["main.f90", "-L.", "-ln", "-Wl,-rpath,$ORIGIN", "-o", "p"],
        )?
        .ok()?;
        records(s.dir(), "p")?;
        fc(s.dir(), &["-O1", "-c", "numbers.f90"])?.ok()?;
        run(Command::new("ar")
            .current_dir(s.dir())
            .args(["rcs", "libn.a", "numbers.o"]))?
        .ok()?;
        for linker in ["-fuse-ld=bfd", "-fuse-ld=lld"] {
            fc(s.dir(), &[linker, "main.f90", "libn.a", "-o", "p"])?.ok()?;
            records(s.dir(), "p")?;
        }
        let lto = ["-O2", "-flto", "-fuse-ld=lld", "numbers.f90", "main.f90"];
        fc(s.dir(), &[&lto[..], &["-o", "p"]].concat())?.ok()?;
        let recording = Recording::of(Command::new("./p").current_dir(s.dir()), &s.join("traces"))?;
        assert_eq!(recording.run.clone().ok()?.out(), "12\n");
        recording.graphs(true)?;
        Ok(())
    })
}

#[test]
fn messages_exit_codes_and_files_are_flangs() -> Result<()> {
    with_sources("messages", |s| {
        s.write(
            "wrong.f90",
            "program w\n  implicit none\n  x = 1\nend program\n",
        )?;
        s.write(
            "two.F90",
            "#define N 2\nprogram p\n  print *, N\nend program\n",
        )?;
        let cases: [&[&str]; 8] = [
            &["-c", "wrong.f90"],
            &["-c", "missing.f90"],
            &["-c", "-bogus-option", "main.f90"],
            &["-c", "main.f90"],
            &[],
            &["--version"],
            &["-dumpmachine"],
            &["-E", "two.F90"],
        ];
        for words in cases {
            let (ours, theirs) = (fc(s.dir(), words)?, flang(s.dir(), words)?);
            assert_eq!(ours.outcome(), theirs.outcome(), "{ours}\n{theirs}");
            let out = ours.out();
            // `--version` has one line more.
            let out = out.split("Contech ").next().unwrap_or_default();
            assert_eq!(out, theirs.out());
            let name = |e: String| {
                e.replace("contech-fc", "flang")
                    .replace("flang-22", "flang")
            };
            assert_eq!(name(ours.err()), name(theirs.err()));
        }
        Ok(())
    })
}

#[test]
fn a_missing_flang_is_named_with_its_package() -> Result<()> {
    with_sources("missing", |s| {
        let mut command = Command::new(Outputs::get().fc());
        command.current_dir(s.dir()).args(["-c", "numbers.f90"]);
        let done = run(command.env("CONTECH_FLANG", "/nowhere/flang"))?.expect("exit 1")?;
        assert_eq!(
            done.err(),
            "contech-fc: error: flang 22 not found: looked for CONTECH_FLANG=/nowhere/flang; install it (Debian: flang-22 and libflang-22-dev), or set CONTECH_FLANG to its path\n"
        );
        Ok(())
    })
}

#[test]
fn what_is_not_supported_is_refused_plainly() -> Result<()> {
    with_sources("refused", |s| {
        for (words, message) in [
            (&["-fcoarray", "main.f90"][..], "coarrays are not supported"),
            (&["--contech-mod=full", "main.f90"], "unknown option"),
        ] {
            let done = fc(s.dir(), words)?.expect("exit 1")?;
            assert_eq!(done.err().lines().count(), 1, "{done}");
            assert!(done.err().contains(message), "{done}");
        }
        let help = fc(s.dir(), &["--contech-help"])?.ok()?.out();
        for word in ["contech-fc", "CONTECH_FLANG", "flang 22"] {
            assert!(help.contains(word), "{help}");
        }
        Ok(())
    })
}

#[test]
fn cmake_and_make_with_fortran_and_c() -> Result<()> {
    with_sources("cmake", |s| {
        s.write("twice.c", "int twice(int x) { return 2 * x; }\n")?;
        s.write(
            "main.f90",
            MAIN.replace(
                "  implicit none\n",
                "  use iso_c_binding\n  implicit none\n  interface\n    integer(c_int) function twice(x) bind(c)\n      import\n      integer(c_int), value :: x\n    end function\n  end interface\n",
            )
            .replace("triple(cell)", "triple(twice(cell) / 2)"),
        )?;
        s.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.18)\nproject(t C Fortran)\nadd_executable(p main.f90 numbers.f90 twice.c)\n")?;
        let mut cmake = Command::new("cmake");
        let outputs = Outputs::get();
        cmake
            .current_dir(s.dir())
            .args(["-S", ".", "-B", "out"])
            .env("CC", outputs.cc())
            .env("FC", outputs.fc());
        run(&mut cmake)?.ok()?;
        run(Command::new("cmake")
            .current_dir(s.dir())
            .args(["--build", "out"]))?
        .ok()?;
        records(&s.join("out"), "p")?;
        s.write("Makefile", "FFLAGS = -O2\nq: main.o numbers.o twice.o\n\t$(FC) -o $@ $^\nmain.o: numbers.o\n%.o: %.f90\n\t$(FC) $(FFLAGS) -c $<\n")?;
        let mut make = Command::new("make");
        make.current_dir(s.dir()).arg("-s");
        make.arg(format!("FC={}", outputs.fc().display()));
        make.arg(format!("CC={}", outputs.cc().display()));
        run(&mut make)?.ok()?;
        records(s.dir(), "q")
    })
}

#[test]
fn synchronisation_only_and_no_recording() -> Result<()> {
    with_sources("modes", |s| {
        fc(
            s.dir(),
            &["--contech-mode=sync", "numbers.f90", "main.f90", "-o", "p"],
        )?
        .ok()?;
        let mut command = Command::new("./p");
        let recording = Recording::of(command.current_dir(s.dir()), &s.join("traces"))?;
        assert_eq!(recording.run.clone().ok()?.out(), "12\n");
        let graphs = recording.graphs(true)?;
        let stats = backend_json(&["stats"], &graphs[0])?;
        assert_eq!(stats["accesses"].as_u64(), Some(0), "{stats}");
        // The locks of the Fortran library itself are no tasks.
        assert_eq!(stats["tasks"]["sync"].as_u64(), Some(0), "{stats}");
        let off = run(Command::new("./p")
            .current_dir(s.dir())
            .env("CONTECH_OFF", "1"))?;
        assert_eq!(off.ok()?.out(), "12\n");
        Ok(())
    })
}
