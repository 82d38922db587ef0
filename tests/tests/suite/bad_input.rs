//! What cannot be written, and options that do not exist. A traced program never suffers from a
//! trace that cannot be written. (Files that are no trace or no graph, cut and damaged ones are the
//! business of the crates that read them.)

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::Result;
use contech_tests::outputs::output;
use contech_tests::process::{Finished, run};
use contech_tests::program::Program;
use contech_tests::recording::Recording;
use contech_tests::scratch::{Scratch, files};
use contech_tests::toolchain::Toolchain;

/// A program with its trace, made once.
struct Base {
    program: PathBuf,
    trace: Vec<u8>,
}

fn base() -> &'static Base {
    static BASE: OnceLock<Base> = OnceLock::new();
    BASE.get_or_init(|| make_base().expect("a recording"))
}

fn make_base() -> Result<Base> {
    let scratch = Scratch::new("bad_input/base")?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/mutex_recursive.c");
    let program = Program::read(&source)?.expect("a program");
    let program = Toolchain::contech().program(&program, "O1", scratch.dir())?;
    let recording = Recording::of(&mut Command::new(&program), &scratch.join("traces"))?;
    let trace = fs::read(&recording.traces[0])?;
    Ok(Base { program, trace })
}

/// Checks for exit code 1 and one message that names the file and is no panic.
#[track_caller]
fn clear_error(done: &Finished, names: &str) {
    assert_eq!(done.outcome(), "exit 1", "{done}");
    let message = done.err();
    assert!(message.contains(names), "the message does not name {names}: {done}");
    assert!(!message.contains("panicked"), "{done}");
}

#[test]
fn a_full_disk_leaves_no_graph() -> Result<()> {
    let scratch = Scratch::new("bad_input/full")?;
    let trace = scratch.write("whole.bin", &base().trace)?;
    let graph = scratch.join("out.tg");
    // With a file-size limit of one block, and its signal ignored, writes fail as on a full disk.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$1\" \"$2\""]);
    command.arg(output("contech-middle")).arg(&trace).arg(&graph);
    clear_error(&run(&mut command)?, "out.tg");
    assert!(files(scratch.dir(), "tg")?.is_empty());
    assert_eq!(fs::read_dir(scratch.dir())?.count(), 1, "something was left behind");
    scratch.done();
    Ok(())
}

/// Checks that the program runs as if untraced, with one more line on standard error that names the
/// trace.
fn runs_untraced(trace: &Path) -> Result<()> {
    let plain = run(Command::new(&base().program).env("CONTECH_OFF", "1"))?.ok()?;
    assert_eq!(plain.err(), "", "CONTECH_OFF is silent");
    let traced = run(Command::new(&base().program).env("CONTECH_TRACE", trace))?;
    assert_eq!((plain.status, &plain.stdout), (traced.status, &traced.stdout), "{traced}");
    assert_eq!(traced.err().lines().count(), 1, "{traced}");
    assert!(traced.err().contains(&*trace.to_string_lossy()), "{traced}");
    Ok(())
}

#[test]
fn a_program_whose_trace_cannot_be_opened_runs_untraced() -> Result<()> {
    let scratch = Scratch::new("bad_input/unopenable")?;
    runs_untraced(&scratch.join("no/such/dir/trace.bin"))?;
    runs_untraced(scratch.dir())?;
    scratch.done();
    Ok(())
}

#[test]
fn a_program_whose_disk_is_full_runs_to_its_end() -> Result<()> {
    runs_untraced(Path::new("/dev/full"))
}
