//! `contech-cc`, `contech-c++` and `contech-fc` in place of clang and flang: same files, same
//! messages, same exit codes, in every way in which a build calls a compiler; and what they build
//! can be recorded.
//!
//! A build is a shell script in a folder with [`SOURCES`]. `$CC`, `$CXX` and `$FC` are the drivers,
//! and `$CLANG` is clang alone. The programs `fortran_*` of `programs/` say what is recorded of
//! Fortran.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use contech_tests::matrix::ways;
use contech_tests::outputs::{home, path_from};
use contech_tests::process::{Finished, run};
use contech_tests::recording::{Recording, backend, backend_json};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

/// Programs in C, C++ and Fortran that print 12, and what is wrong with a few others.
const SOURCES: [(&str, &str); 13] = [
    ("value.h", "#define VALUE 4\nint triple(int);\n"),
    (
        "main.c",
        "#include <stdio.h>\n#include \"value.h\"\nint cell;\nint main(void) { cell = triple(VALUE); printf(\"%d\\n\", cell); return 0; }\n",
    ),
    (
        "triple.c",
        "#include \"value.h\"\nstatic int last;\nint triple(int x) { last = 3 * x; return last; }\n",
    ),
    (
        "main.cpp",
        "#include <iostream>\n#include <string>\nint main() { std::string s(\"12\"); std::cout << s << '\\n'; }\n",
    ),
    (
        "numbers.f90",
        "module numbers\n  implicit none\n  integer :: cell = 4\ncontains\n  integer function triple(x)\n    integer, intent(in) :: x\n    cell = 3 * x\n    triple = cell\n  end function\nend module\n",
    ),
    (
        "main.f90",
        "program main\n  use numbers\n  implicit none\n  print '(i0)', triple(cell)\nend program\n",
    ),
    ("twice.c", "int twice(int x) { return 2 * x; }\n"),
    (
        "both.f90",
        "program main\n  use numbers\n  use iso_c_binding\n  implicit none\n  interface\n    integer(c_int) function twice(x) bind(c)\n      import\n      integer(c_int), value :: x\n    end function\n  end interface\n  print '(i0)', triple(twice(cell) / 2)\nend program\n",
    ),
    (
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.18)\nproject(t C Fortran)\nadd_executable(p both.f90 numbers.f90 twice.c)\n",
    ),
    (
        "Makefile",
        "FFLAGS = -O2\np: both.o numbers.o twice.o\n\t$(FC) -o $@ $^\nboth.o: numbers.o\n%.o: %.f90\n\t$(FC) $(FFLAGS) -c $<\n",
    ),
    ("wrong.c", "int main(void) { int unused; return undeclared; }\n"),
    ("wrong.f90", "program w\n  implicit none\n  x = 1\nend program\n"),
    ("two.F90", "#define N 2\nprogram p\n  print *, N\nend program\n"),
];

/// A folder with the sources.
fn folder(name: &str) -> Result<Scratch> {
    let scratch = Scratch::new(&format!("drivers/{name}"))?;
    for (file, text) in SOURCES {
        scratch.write(file, text)?;
    }
    Ok(scratch)
}

/// Runs a script in a folder, with these compilers.
fn shell(dir: &Path, script: &str, compilers: &Toolchain) -> Result<Finished> {
    let mut shell = Command::new("sh");
    shell.current_dir(dir).args(["-ec", script]).envs(compilers.environment());
    run(shell.env("PATH", path_from(home())?).env("CLANG", "clang-22"))
}

/// Runs a script with the drivers.
fn ours(dir: &Path, script: &str) -> Result<Finished> {
    shell(dir, script, &Toolchain::contech())
}

/// A way to build `p`: its name, words of which a commit takes one for `{}`, and words of blocks
/// that the program executes.
type Build = (&'static str, &'static [&'static str], &'static str, &'static [&'static str]);

const ONE: &[&str] = &[""];
const BOTH: &[&str] = &["main", "triple"];
const NUMBERS: &[&str] = &["numbers::triple"];
const LTO: &[&str] = &["-flto", "-flto=thin"];
const MODELS: &[&str] = &[
    "-no-pie",
    "-fPIE -pie",
    "-fno-plt -Wl,-z,now",
    "-fvisibility=hidden",
    "-mcmodel=medium",
    "-ffunction-sections -fdata-sections -Wl,--gc-sections",
];

#[rustfmt::skip]
const BUILDS: [Build; 30] = [
    ("several", ONE, "$CC main.c triple.c -o p", BOTH),
    ("a_out", ONE, "$CC main.c triple.c; mv a.out p", BOTH),
    ("link_only", ONE, "$CC -c main.c triple.c; $CC main.o triple.o -o p", BOTH),
    ("mixed", ONE, "$CC -c main.c; $CLANG -c triple.c; $CC main.o triple.o -o p", &["main"]),
    ("archive", &["-ltriple", "libtriple.a"],
     "$CC -c -O2 triple.c; ar rcs libtriple.a triple.o
      $CC -O2 main.c -L. {} -o p 2> said; test ! -s said", BOTH),
    ("shared", ONE,
     "$CC -shared -fPIC triple.c -o libtriple.so
      $CC main.c -L. -ltriple -Wl,-rpath,'$ORIGIN' -o p", BOTH),
    ("shared_in_plain", ONE,
     "$CC -shared -fPIC triple.c -o libtriple.so
      $CLANG main.c -L. -ltriple -Wl,-rpath,'$ORIGIN' -o p", &["triple"]),
    ("relocatable", ONE,
     "$CC -c main.c triple.c; $CC -r main.o triple.o -o both.o; $CC both.o -o p", BOTH),
    ("freestanding", ONE,
     "$CC -c -ffreestanding triple.c; ! nm triple.o | grep -q contech
      $CC main.c triple.o -o p", &["main"]),
    // `triple` is inlined into main.
    ("lto", LTO, "$CC -O2 {} -c main.c triple.c; $CC -O2 {} main.o triple.o -o p", &["main"]),
    ("lto_lines", LTO, "$CC -O1 {} -g -fno-inline main.c triple.c -o p", BOTH),
    ("debug", ONE, "$CC -g -O1 main.c triple.c -o p", &["triple.c 3", "main.c 4"]),
    ("assembly", ONE,
     "$CC -S triple.c; grep -q triple: triple.s; $CC -c triple.s
      $CC main.c triple.o -o p; $CC -fsyntax-only main.c", BOTH),
    ("ir", ONE,
     "$CC -S -emit-llvm triple.c -o triple.ll; $CLANG -c -emit-llvm main.c -o main.bc
      $CC main.bc triple.ll -o p", BOTH),
    ("response_files", ONE,
     r#"echo triple.c -O1 > inner.rsp; echo "main.c @inner.rsp \"-o\" 'p q'" > words.rsp
        $CC @words.rsp; mv 'p q' p"#, BOTH),
    ("language", ONE,
     "mv triple.c triple.txt; $CC -x c triple.txt -x none main.c -o p", BOTH),
    ("standard_input", ONE,
     "$CC -x c - -c -o triple.o < triple.c; $CC main.c triple.o -o p", BOTH),
    ("naive", ONE, "$CC --contech-naive --contech-mode=full main.c triple.c -o p", BOTH),
    ("models", MODELS, "$CC {} -O2 -fno-inline main.c triple.c -o p", BOTH),
    ("linkers", &["bfd", "lld", "gold"], "$CC -fuse-ld={} main.c triple.c -o p", BOTH),
    ("static", ONE, "$CC -static main.c triple.c -o p", BOTH),
    ("cxx", ONE, "$CXX -O2 main.cpp -o p", &["main"]),
    ("cxx_link", ONE, "$CXX -c main.cpp; $CXX main.o -o p", &["main"]),
    ("fortran_modules", &["-O0", "-O1", "-O2", "-O3"],
     "mkdir mods; $FC {} -g -J mods -c numbers.f90; test -f mods/numbers.mod
      $FC {} -Imods -c main.f90 -o m.o; $FC m.o numbers.o -o p", NUMBERS),
    ("fortran_module_folder", ONE,
     "$FC -O0 -module-dir . numbers.f90 main.f90 -o p 2> said; test ! -s said",
     &["numbers.f90 5", "main.f90 5"]),
    ("fortran_shared", ONE,
     "$FC -shared -fPIC numbers.f90 -Wl,-soname,libn.so -o libn.so
      $FC main.f90 -L. -ln -Wl,-rpath,'$ORIGIN' -o p", NUMBERS),
    ("fortran_archive", &["bfd", "lld"],
     "$FC -O1 -c numbers.f90; ar rcs libn.a numbers.o; $FC -fuse-ld={} main.f90 libn.a -o p",
     NUMBERS),
    ("fortran_lto", ONE, "$FC -O2 -flto -fuse-ld=lld numbers.f90 main.f90 -o p", &[]),
    ("fortran_cmake", ONE, "cmake -S . -B out; cmake --build out; cp out/p .", NUMBERS),
    ("fortran_make", ONE, "make -s FC=$FC CC=$CC", NUMBERS),
];

#[test]
fn what_is_built_in_any_way_is_recorded() -> Result<()> {
    for (name, words, script, executed) in BUILDS {
        for word in ways(name, words) {
            is_recorded(name, &script.replace("{}", word), executed)
                .with_context(|| format!("{name} {word}"))?;
        }
    }
    Ok(())
}

fn is_recorded(name: &str, script: &str, executed: &[&str]) -> Result<()> {
    let scratch = folder(name)?;
    ours(scratch.dir(), script)?.ok()?;
    let mut program = Command::new("./p");
    program.current_dir(scratch.dir());
    let (said, graph) = Recording::whole(&mut program, &scratch.join("traces"))?;
    ensure!(said.out() == "12\n", "{said}");
    let blocks = backend(&["dump", "--blocks", "0:*"], &graph)?.ok()?;
    for words in executed {
        ensure!(blocks.out().contains(words), "no {words} in {blocks}");
    }
    scratch.done()
}

#[test]
fn no_function_is_instrumented_twice_under_lto() -> Result<()> {
    let writes = |flag: &str| {
        let scratch = folder("lto_once")?;
        let script = format!("$CC -O1 -fno-inline {flag} main.c triple.c -o p");
        ours(scratch.dir(), &script)?.ok()?;
        let mut program = Command::new(scratch.join("p"));
        let (_, graph) = Recording::whole(&mut program, &scratch.join("traces"))?;
        let stats = backend_json(&["stats"], &graph)?;
        scratch.done()?;
        stats["writes"].as_u64().context("writes")
    };
    let without = writes("")?;
    for flag in LTO {
        let with = writes(flag)?;
        ensure!(with == without, "{flag}: {with} writes, {without} without");
    }
    Ok(())
}

/// Calls whose output, messages, files and exit codes are the compiler's.
const SAME: [&str; 23] = [
    "$CC -c wrong.c",
    "$CC -Wall -Wextra -c wrong.c",
    "$CC -Wall -c twice.c",
    "$CC -c missing.c",
    "$CC",
    "$CC --version",
    "$CC -dumpmachine",
    "$CC -dumpversion",
    "$CC -print-search-dirs",
    "$CC -print-file-name=libc.so",
    "$CC -print-resource-dir",
    "$CC -E main.c",
    "$CC -M main.c",
    "$CC -MMD -MP -c main.c -o main.o; cat main.d",
    "$CC -MD -MF deps.txt -MT target -c main.c; cat deps.txt",
    "$FC -c wrong.f90",
    "$FC -c missing.f90",
    "$FC -c -bogus-option main.f90",
    "$FC -c numbers.f90",
    "$FC",
    "$FC --version",
    "$FC -dumpmachine",
    "$FC -E two.F90",
];

#[test]
fn output_messages_and_exit_codes_are_the_compilers() -> Result<()> {
    let scratch = folder("same")?;
    for script in SAME {
        let ours = ours(scratch.dir(), script)?;
        let theirs = shell(scratch.dir(), script, &Toolchain::native())?;
        ensure!(ours.outcome() == theirs.outcome(), "{ours}\n{theirs}");
        // `--version` has one line more.
        let out = ours.out();
        let out = out.split("Contech ").next().unwrap_or_default();
        ensure!(out == theirs.out(), "{ours}\n{theirs}");
        // A driver uses its own name in its own messages.
        let named = |done: &Finished| {
            let said = done.err().replace("contech-cc", "clang");
            let said = said.replace("contech-fc", "flang");
            said.replace("clang-22", "clang").replace("flang-22", "flang")
        };
        ensure!(named(&ours) == named(&theirs), "{ours}\n{theirs}");
    }
    scratch.done()
}

/// What is said of a call, and how it ends. Each is told in a line of its own.
#[rustfmt::skip]
const SAID: [(&str, &str, &str); 26] = [
    ("$CC main.c -o p", "exit 1", "triple"),
    ("$CC -c main.c; $CLANG -c triple.c; $CC main.o triple.o -o p", "exit 0",
     "contech-cc: warning: triple.o was not compiled with contech-cc: its code will not be recorded\n"),
    ("$CC -c main.c; $CLANG -c triple.c; ar rcs lib.a triple.o; $CC main.o triple.o lib.a -o p",
     "exit 0", "2 files were not compiled with contech-cc"),
    ("$CC -static main.c triple.c -o p", "exit 0", "-static is left out"),
    ("$CC --contech-explain main.c triple.c -o p", "exit 0", "triple"),
    ("$CC --contech-no-such-option -c main.c", "exit 1", "--contech-explain"),
    ("$CC -v", "exit 0", "clang version"),
    ("$CC '-###' -c main.c", "exit 0", "-cc1"),
    ("$CC --version", "exit 0", "Contech "),
    ("$CC --help", "exit 0", "--contech-explain"),
    ("CONTECH_HOME=/nowhere $CC -E main.c", "exit 0", "int triple(int)"),
    ("CONTECH_CLANG=/nowhere/clang $CC -c main.c", "exit 1", "clang-22"),
    ("CONTECH_FLANG=/nowhere/flang $FC -c main.f90", "exit 1",
     "contech-fc: error: flang 22 not found: looked for CONTECH_FLANG=/nowhere/flang; install it (Debian: flang-22 and libflang-22-dev), or set CONTECH_FLANG to its path\n"),
    ("$FC -fcoarray main.f90", "exit 1", "coarrays are not supported"),
    ("$FC --contech-mod=full main.f90", "exit 1", "unknown option"),
    ("$FC --contech-help", "exit 0", "CONTECH_FLANG"),
    ("$CC --contech-mode=workspan -fopenmp main.c", "exit 1",
     "OpenMP programs do not profile themselves"),
    // A compiler that knows no folder of the library answers with its name.
    ("printf '#!/bin/sh\necho libomp.so\n' > clang; chmod +x clang; unset LIBRARY_PATH
      CONTECH_CLANG=$PWD/clang $CC -fopenmp a.o", "exit 1", "Debian: libomp-22-dev"),
    ("touch libomp.so; for words in '-fopenmp -L. a.o' '-fopenmp -c a.c' '-fopenmp=libgomp a.o'; do
      CONTECH_CLANG=$PWD/clang $CC $words; done", "exit 0", ""),
    ("yes -- -DNAME=value | head -1000000 > long; echo --contech-check -c main.c >> long; $CC @long",
     "exit 1", "CONTECH_OPTIONS"),
    ("$CC -O2 -g -c triple.c -o a.o; $CC -O2 -g -c triple.c -o b.o; cmp a.o b.o", "exit 0", ""),
    ("echo 'int x; int main(void) { __asm__(\"movl $5, %0\" : \"=m\"(x)); return x - 5; }' > asm.c
      $CC asm.c -o asm; ./asm; contech-middle; contech-backend stats", "exit 0", "assembly"),
    // Commands find the files of their folder.
    ("$CC main.c triple.c -o p; ./p; contech-middle; contech-backend dump --blocks '0:*'",
     "exit 0", "triple"),
    ("rm graph.tg; contech-backend stats", "exit 1", "no graph.tg in this folder"),
    ("export CONTECH_OPTIONS=--contech-mode=sync; $CC main.c triple.c -o p; ./p
      contech-middle; contech-backend stats --format csv", "exit 0", "accesses,0"),
    // The locks of the Fortran library itself are no tasks.
    ("$FC --contech-mode=sync numbers.f90 main.f90 -o p; ./p
      contech-middle; contech-backend stats --format csv", "exit 0", "sync,0"),
];

#[test]
fn what_is_particular_to_the_drivers_is_said() -> Result<()> {
    let scratch = folder("said")?;
    for (script, outcome, words) in SAID {
        let done = ours(scratch.dir(), script)?.expect(outcome)?;
        let (out, err) = (done.out(), done.err());
        let is_said = out.contains(words) || err.contains(words);
        ensure!(is_said, "{words} is not said: {done}");
        let own = err.lines().filter(|line| line.starts_with("contech-"));
        ensure!(own.count() <= 1, "{done}");
    }
    scratch.done()
}
