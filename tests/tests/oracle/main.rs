//! The naive oracle: the accesses of a graph equal an independent recording of the same run.
//!
//! clang compiles a program to IR (at -O0 or at -O2) with LLVM's own address-sanitizer pass in its
//! kernel form, which puts a callback before every load, store and atomic and changes nothing else.
//! Then `contech-cc` instruments that IR, in which the callbacks are renamed to library functions
//! that do not end a block, so that the blocks are those of the program. One run gives both
//! recordings, so addresses can be compared as such, thread by thread, with no assumption about
//! memory layout. A commit takes one of the levels for each program.
//!
//! The oracle covers loads, stores, atomics, memcpy, memmove, memset, strlen, qsort, texts that
//! printf prints, all threads, and their order. It does not cover these: an atomic
//! read-modify-write is one write to the sanitizer and a read and a write to contech (each such
//! pair is counted, and the count is stated below); what va_start and va_copy touch; loads that
//! clang marks as not to be sanitized (of virtual functions by member pointers); other accesses
//! made by the C library.

mod callbacks;
mod streams;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use contech_tests::matrix::ways;
use contech_tests::process::run;
use contech_tests::program::Program;
use contech_tests::recording::Recording;
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;
use contech_tests::verdict::{self, Tools};

/// Programs whose threads do the same in every run, and the number of read-modify-writes they
/// execute.
const PROGRAMS: [(&str, Option<u64>); 20] = [
    ("atomics.c", Some(7)),
    ("barrier.c", Some(3)),
    ("bulk.c", Some(0)),
    ("c11_threads.c", Some(0)),
    ("control_flow.c", Some(0)),
    ("create_join.c", Some(0)),
    ("cxx_exceptions.cpp", None),
    ("cxx_mutex.cpp", None),
    ("cxx_thread.cpp", None),
    ("cxx_thread_local.cpp", None),
    ("longjmp.c", Some(0)),
    ("mutex_recursive.c", Some(0)),
    ("nested_create.c", Some(0)),
    ("once.c", Some(0)),
    ("qsort_callback.c", Some(0)),
    ("recursion.c", Some(0)),
    ("spin.c", Some(0)),
    ("thread_exit.c", Some(0)),
    ("threads_200.c", Some(0)),
    ("tsd_destructor.c", Some(0)),
];

fn main() {
    let arguments = verdict::arguments();
    let mut trials = Vec::new();
    for (file, rmws) in PROGRAMS {
        for level in ways(file, &["O0", "O2"]) {
            let name = format!("{file}::{level}").to_lowercase();
            let from = [source(file), recorder()].map(|path| fs::read(path).ok());
            let run = move || trial(file, rmws, level);
            trials.push(verdict::trial(name, Tools::Recording, &from, run));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn source(file: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    folder.join(file)
}

/// What writes the sanitizer's callbacks down.
fn recorder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle/callbacks.c")
}

fn trial(file: &str, rmws: Option<u64>, level: &str) -> Result<()> {
    let program = Program::read(&source(file))?.context("a program, not a part")?;
    let scratch = Scratch::new(&format!("oracle/{}-{level}", program.name))?;
    let executable = build(&program, level, scratch.dir())?;
    let log = scratch.join("oracle.txt");
    // Frames of the deep recursion are larger with a call before every access.
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -s 65536 && exec \"$0\""]).arg(executable);
    command.current_dir(scratch.dir()).env("ORACLE_FILE", &log);
    let recording = Recording::of(&mut command, &scratch.join("traces"))?;
    recording.run.clone().expect(&program.expect)?;
    let graphs = recording.graphs(true)?;
    let [graph] = graphs.as_slice() else { bail!("expected one trace, found {graphs:?}") };
    let wanted = streams::of_oracle(&fs::read_to_string(&log)?)?;
    let recorded = streams::of_graph(graph)?;
    let pairs = streams::compare(&wanted, &recorded)?;
    if rmws.is_some_and(|n| n != pairs) {
        bail!("{pairs} read-modify-writes where the program makes {rmws:?}");
    }
    scratch.done()
}

/// Builds source -> IR with callbacks -> instrumented executable.
fn build(program: &Program, level: &str, dir: &Path) -> Result<PathBuf> {
    let (native, contech) = (Toolchain::native(), Toolchain::contech());
    let plain_ir = dir.join("plain.ll");
    let mut compile = Command::new(native.compiler_of(&program.source));
    compile.args([&format!("-{level}"), "-pthread", "-S", "-emit-llvm"]).args(&program.flags);
    compile.args(callbacks::FLAGS).arg(&program.source).arg("-o").arg(&plain_ir);
    run(&mut compile)?.ok()?;
    let ir = dir.join("program.ll");
    fs::write(&ir, callbacks::rename(&fs::read_to_string(&plain_ir)?)?)?;
    let object = native.object(&recorder(), &["-O2".to_owned()], dir)?;
    let executable = dir.join("prog");
    // The IR is final, so -O0 runs only the instrumentation.
    let mut link = Command::new(contech.compiler_of(&program.source));
    link.args(["-O0", "-pthread", "-Wno-override-module"]).arg(&ir).arg(&object);
    link.arg(
        "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset,--wrap=strlen,--wrap=qsort,--wrap=printf",
    )
    .arg("-o")
    .arg(&executable);
    run(&mut link)?.ok()?;
    Ok(executable)
}
