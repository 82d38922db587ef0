//! Whole builds with nothing but CC and CXX replaced: make (parallel, incremental), a configure
//! script, CMake.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use contech_tests::matrix::ways;
use contech_tests::process::run;
use contech_tests::recording::{Recording, backend, backend_json, middle, verify};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

/// A copy of one of `projects/` in a fresh directory for this test.
fn project(name: &str, test: &str) -> Result<Scratch> {
    let scratch = Scratch::new(&format!("builds/{test}"))?;
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("projects").join(name);
    let mut copy = Command::new("cp");
    copy.arg("-a").arg(from.join(".")).arg(scratch.dir());
    run(&mut copy)?.ok()?;
    Ok(scratch)
}

/// A build tool with our drivers as compilers.
fn tool(name: &str, dir: &Path) -> Command {
    let mut command = Command::new(name);
    command.current_dir(dir).envs(Toolchain::contech().environment());
    command
}

/// Records a program of the build; returns its output and its graph.
fn record(dir: &Path, program: &str) -> Result<(String, PathBuf)> {
    let traces = dir.join("traces");
    if traces.exists() {
        fs::remove_dir_all(&traces)?;
    }
    let mut program = Command::new(format!("./{program}"));
    let (run, graph) = Recording::whole(program.current_dir(dir), &traces)?;
    Ok((run.out(), graph))
}

#[test]
fn a_parallel_make_of_thirty_modules_and_an_incremental_one() -> Result<()> {
    let scratch = Scratch::new("builds/make")?;
    let (mut list, mut calls, mut declarations) = (String::new(), String::new(), String::new());
    for i in 0..30 {
        // Every module has functions and data of the same static names.
        scratch.write(format!("part{i}.c"), format!("#include \"all.h\"\nstatic int cell;\nstatic int same(int x) {{ cell += x * {i} + FACTOR; return cell; }}\nint part{i}(int x) {{ return same(x); }}\n"))?;
        list += &format!(" part{i}.o");
        calls += &format!("  s += part{i}(2);\n");
        declarations += &format!("int part{i}(int);\n");
    }
    scratch.write("all.h", format!("#define FACTOR 1\n{declarations}"))?;
    scratch.write("main.c", format!("#include <stdio.h>\n#include \"all.h\"\nint main(void) {{\n  int s = 0;\n{calls}  printf(\"%d\\n\", s);\n  return 0;\n}}\n"))?;
    scratch.write("Makefile", format!("OBJS = main.o{list}\nCFLAGS = -O1 -MMD\nprog: $(OBJS)\n\t$(CC) $(CFLAGS) -o $@ $(OBJS)\n-include $(OBJS:.o=.d)\n"))?;
    run(tool("make", scratch.dir()).args(["-j8"]))?.ok()?;
    let sum = |factor: i32| (0..30).map(|i| 2 * i + factor).sum::<i32>();
    let (said, graph) = record(scratch.dir(), "prog")?;
    assert_eq!(said, format!("{}\n", sum(1)));
    let blocks = backend(&["dump", "--blocks", "0:*"], &graph)?.ok()?.out();
    for i in 0..30 {
        assert!(blocks.contains(&format!("part{i}")), "part{i} is missing");
    }
    // One module changes, and only that one is rebuilt; the rest keeps its tables.
    let part = fs::read_to_string(scratch.join("part7.c"))?;
    scratch.write("part7.c", part.replace("cell += ", "cell += 1000 + "))?;
    let second = run(tool("make", scratch.dir()).args(["-j8"]))?.ok()?;
    assert_eq!(second.out().matches(" -c ").count(), 1, "{second}");
    assert_eq!(record(scratch.dir(), "prog")?.0, format!("{}\n", sum(1) + 1000));
    // The header changes, and everything is rebuilt.
    let header = fs::read_to_string(scratch.join("all.h"))?;
    scratch.write("all.h", header.replace("FACTOR 1", "FACTOR 2"))?;
    run(tool("make", scratch.dir()).args(["-j8"]))?.ok()?;
    assert_eq!(record(scratch.dir(), "prog")?.0, format!("{}\n", sum(2) + 1000));
    scratch.done()
}

#[test]
fn a_configure_script() -> Result<()> {
    let scratch = project("configure", "configure")?;
    let configured = run(tool("sh", scratch.dir()).arg("./configure"))?.ok()?;
    // The programs that the script tried have recorded, and nothing is left but what it makes and a
    // whole trace.
    let left = fs::read_dir(scratch.dir())?.map(|file| Ok(file?.file_name()));
    let left = left.collect::<Result<BTreeSet<_>>>()?;
    let expected = ["Makefile", "Makefile.in", "configure", "prog.c", "trace.bin"];
    assert_eq!(left, expected.map(OsString::from).into());
    let tried = scratch.join("tried.tg");
    middle(&scratch.join("trace.bin"), &tried)?.ok()?;
    verify(&tried)?;
    run(tool("make", scratch.dir()).arg("-j2"))?.ok()?;
    let (said, graph) = record(scratch.dir(), "prog")?;
    assert_eq!(said, "long is 8 bytes, sqrt(2) is 1.4142, 2 threads\n", "{configured}");
    assert_eq!(backend_json(&["stats"], &graph)?["contexts"].as_u64(), Some(3));
    scratch.done()
}

#[test]
fn cmake_with_static_and_shared_libraries_in_c_and_cxx() -> Result<()> {
    let release = "-DCMAKE_BUILD_TYPE=Release";
    let linked = "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON";
    let all = [&["-DCMAKE_BUILD_TYPE=Debug"][..], &[release], &[release, linked]];
    for options in ways("cmake", &all) {
        let scratch = project("cmake", "cmake")?;
        let mut cmake = tool("cmake", scratch.dir());
        run(cmake.args(["-S", ".", "-B", "build"]).args(options))?.ok()?;
        run(tool("cmake", scratch.dir()).args(["--build", "build", "-j2"]))?.ok()?;
        let (said, graph) = record(&scratch.join("build"), "prog")?;
        assert_eq!(said, "sum 285 by 2 threads, name contech\n");
        assert_eq!(backend_json(&["stats"], &graph)?["contexts"].as_u64(), Some(3));
        scratch.done()?;
    }
    Ok(())
}
