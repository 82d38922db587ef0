//! Bad input: every tool says what is wrong with which file and what to do, exits 1, and leaves nothing half-written.
//! A traced program never suffers from a trace that cannot be written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::Result;
use contech_tests::outputs::Outputs;
use contech_tests::process::{Finished, run};
use contech_tests::program::Program;
use contech_tests::recording::{Recording, backend, files, middle, verify};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

/// A program with its trace and graph, made once.
struct Base {
    program: PathBuf,
    trace: Vec<u8>,
    graph: Vec<u8>,
}

fn base() -> &'static Base {
    static BASE: OnceLock<Base> = OnceLock::new();
    BASE.get_or_init(|| make_base().expect("a recording to damage"))
}

fn make_base() -> Result<Base> {
    let scratch = Scratch::new("bad_input/base")?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/mutex_recursive.c");
    let program = Program::read(&source)?.expect("a program");
    let program = Toolchain::contech().program(&program, "O1", scratch.dir())?;
    let recording = Recording::of(&mut Command::new(&program), &scratch.join("traces"))?;
    let graphs = recording.graphs(true)?;
    Ok(Base {
        program,
        trace: fs::read(&recording.traces[0])?,
        graph: fs::read(&graphs[0])?,
    })
}

/// Checks for exit code 1 and one message that names the file and is no panic.
#[track_caller]
fn clear_error(done: &Finished, names: &str, says: &[&str]) {
    assert_eq!(done.outcome(), "exit 1", "{done}");
    let message = done.err();
    assert!(
        message.contains(names),
        "the message does not name {names}: {done}"
    );
    assert!(!message.contains("panicked"), "{done}");
    let lower = message.to_lowercase();
    assert!(
        says.is_empty() || says.iter().any(|s| lower.contains(s)),
        "none of {says:?} in: {done}"
    );
}

/// Gives damaged bytes to the middle, which must report an error and write no output.
fn middle_refuses(name: &str, bytes: &[u8], says: &[&str]) -> Result<()> {
    let scratch = Scratch::new(&format!("bad_input/middle-{name}"))?;
    let trace = scratch.write("damaged.bin", bytes)?;
    let done = middle(&trace, &scratch.join("out.tg"))?;
    clear_error(&done, "damaged.bin", says);
    assert_eq!(
        fs::read_dir(scratch.dir())?.count(),
        1,
        "something was left behind"
    );
    scratch.done();
    Ok(())
}

/// Gives damaged bytes to every analysis.
fn backend_refuses(name: &str, bytes: &[u8], says: &[&str]) -> Result<()> {
    let scratch = Scratch::new(&format!("bad_input/backend-{name}"))?;
    let graph = scratch.write("damaged.tg", bytes)?;
    for analysis in ["stats", "parallelism", "blocks", "cache", "verify"] {
        clear_error(&backend(&[analysis], &graph)?, "damaged.tg", says);
    }
    let report = scratch.join("report.html");
    let report = report.to_string_lossy();
    clear_error(
        &backend(&["report", "-o", &report], &graph)?,
        "damaged.tg",
        says,
    );
    assert_eq!(
        fs::read_dir(scratch.dir())?.count(),
        1,
        "something was left behind"
    );
    scratch.done();
    Ok(())
}

#[test]
fn a_missing_file_is_named() -> Result<()> {
    let scratch = Scratch::new("bad_input/missing")?;
    let done = middle(&scratch.join("nowhere.bin"), &scratch.join("out.tg"))?;
    clear_error(&done, "nowhere.bin", &["no such file"]);
    let done = backend(&["stats"], &scratch.join("nowhere.tg"))?;
    clear_error(&done, "nowhere.tg", &["no such file"]);
    scratch.done();
    Ok(())
}

#[test]
fn an_empty_file_is_refused() -> Result<()> {
    middle_refuses("empty", b"", &["empty", "short", "cut", "not a"])?;
    backend_refuses("empty", b"", &["empty", "short", "cut", "not a"])
}

#[test]
fn a_foreign_file_is_refused() -> Result<()> {
    let foreign = fs::read("/bin/sh")?;
    middle_refuses("foreign", &foreign, &["not a", "magic"])?;
    backend_refuses("foreign", &foreign, &["not a", "magic"])
}

#[test]
fn a_graph_is_no_trace_and_a_trace_no_graph() -> Result<()> {
    middle_refuses("graph", &base().graph, &["not a", "magic", "graph"])?;
    backend_refuses("trace", &base().trace, &["not a", "magic", "trace"])
}

#[test]
fn a_newer_version_is_refused_with_the_remedy() -> Result<()> {
    // Both formats begin with 8 bytes of magic, then the version.
    for (bytes, is_trace) in [(&base().trace, true), (&base().graph, false)] {
        let mut newer = bytes.clone();
        newer[8..12].copy_from_slice(&77u32.to_le_bytes());
        if is_trace {
            middle_refuses("newer", &newer, &["version 77", "version"])?;
        } else {
            backend_refuses("newer", &newer, &["version 77", "version"])?;
        }
    }
    Ok(())
}

#[test]
fn a_cut_trace_gives_what_it_holds_or_a_clear_error() -> Result<()> {
    let scratch = Scratch::new("bad_input/cut-trace")?;
    let whole = &base().trace;
    let step = (whole.len() / 40).max(1);
    let mut recovered = 0;
    for length in (1..whole.len()).step_by(step).chain([whole.len() - 1]) {
        let trace = scratch.write("cut.bin", &whole[..length])?;
        let graph = scratch.join("cut.tg");
        let done = middle(&trace, &graph)?;
        if done.outcome() == "exit 3" {
            recovered += 1;
            verify(&graph)?;
            let stats = backend(&["stats"], &graph)?.ok()?;
            assert!(
                stats.err().contains("cut.tg"),
                "no warning about an incomplete graph: {stats}"
            );
            fs::remove_file(&graph)?;
        } else {
            clear_error(&done, "cut.bin", &[]);
            assert!(!graph.exists());
        }
    }
    assert!(recovered > 0, "no cut trace gave anything");
    scratch.done();
    Ok(())
}

#[test]
fn a_trace_with_a_flipped_bit_is_never_taken_for_whole() -> Result<()> {
    let scratch = Scratch::new("bad_input/flipped-trace")?;
    let whole = &base().trace;
    for round in 0..120 {
        let (at, bit) = place(round, whole.len());
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << bit;
        let trace = scratch.write("flipped.bin", &bytes)?;
        let graph = scratch.join("flipped.tg");
        let done = middle(&trace, &graph)?;
        if done.outcome() == "exit 3" {
            verify(&graph)?;
            fs::remove_file(&graph)?;
        } else {
            clear_error(&done, "flipped.bin", &[]);
            assert!(!graph.exists());
        }
    }
    scratch.done();
    Ok(())
}

#[test]
fn a_cut_graph_is_refused_by_every_analysis() -> Result<()> {
    let whole = &base().graph;
    for cut in [whole.len() - 1, whole.len() / 2, 100, 8, 3] {
        backend_refuses(&format!("cut-{cut}"), &whole[..cut], &[])?;
    }
    Ok(())
}

#[test]
fn a_graph_with_a_flipped_bit_never_verifies_and_never_panics() -> Result<()> {
    let scratch = Scratch::new("bad_input/flipped-graph")?;
    let whole = &base().graph;
    for round in 0..120 {
        let (at, bit) = place(round, whole.len());
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << bit;
        let graph = scratch.write("flipped.tg", &bytes)?;
        clear_error(&backend(&["verify"], &graph)?, "flipped.tg", &[]);
        for analysis in [&["stats"][..], &["cache"], &["dump", "--tasks"]] {
            let done = backend(analysis, &graph)?;
            assert!(
                ["exit 0", "exit 1"].contains(&done.outcome().as_str()),
                "byte {at} bit {bit}: {done}"
            );
        }
    }
    scratch.done();
    Ok(())
}

/// The n-th place of a fixed spread over a file.
fn place(n: usize, length: usize) -> (usize, usize) {
    let spread = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (n << 7);
    (spread % length, n % 8)
}

#[test]
fn output_that_cannot_be_written_is_an_error_and_leaves_nothing() -> Result<()> {
    let scratch = Scratch::new("bad_input/unwritable")?;
    let trace = scratch.write("whole.bin", &base().trace)?;
    let graph = scratch.write("whole.tg", &base().graph)?;
    clear_error(
        &middle(&trace, &scratch.join("no/such/dir/out.tg"))?,
        "out.tg",
        &["no such file"],
    );
    clear_error(
        &middle(&trace, &scratch.subdir("taken.tg")?)?,
        "taken.tg",
        &["directory", "not a regular file"],
    );
    let to = scratch.join("no/such/dir/report.html");
    let done = backend(&["report", "-o", &to.to_string_lossy()], &graph)?;
    clear_error(&done, "report.html", &["no such file"]);
    let done = backend(
        &["stats", "-o", &to.with_extension("json").to_string_lossy()],
        &graph,
    )?;
    clear_error(&done, "report.json", &["no such file"]);
    let left = files(scratch.dir(), "tg")?;
    assert_eq!(left.len(), 2, "{left:?}");
    scratch.done();
    Ok(())
}

#[test]
fn a_full_disk_leaves_no_graph() -> Result<()> {
    let scratch = Scratch::new("bad_input/full")?;
    let trace = scratch.write("whole.bin", &base().trace)?;
    let graph = scratch.join("out.tg");
    // With a file-size limit of one block, and its signal ignored, writes fail as on a full disk.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$1\" \"$2\""]);
    command
        .arg(Outputs::get().command("contech-middle"))
        .arg(&trace)
        .arg(&graph);
    clear_error(&run(&mut command)?, "out.tg", &[]);
    assert!(files(scratch.dir(), "tg")?.is_empty());
    assert_eq!(
        fs::read_dir(scratch.dir())?.count(),
        1,
        "something was left behind"
    );
    scratch.done();
    Ok(())
}

#[test]
fn unknown_options_and_analyses_are_usage_errors() -> Result<()> {
    let scratch = Scratch::new("bad_input/options")?;
    let graph = scratch.write("whole.tg", &base().graph)?;
    for words in [
        &["stats", "--no-such-option"][..],
        &["no-such-analysis"],
        &["stats", "--format", "xml"],
        &["cache", "--sizes", "1K..x"],
    ] {
        let done = backend(words, &graph)?;
        assert!(
            ["exit 1", "exit 2"].contains(&done.outcome().as_str()),
            "{done}"
        );
        assert!(!done.err().is_empty() && done.out().is_empty(), "{done}");
    }
    for tool in ["contech-middle", "contech"] {
        let done = run(Command::new(Outputs::get().command(tool)).arg("--no-such-option"))?;
        assert!(
            ["exit 1", "exit 2"].contains(&done.outcome().as_str()),
            "{done}"
        );
        assert!(done.err().contains("--no-such-option"), "{done}");
    }
    let source = scratch.write("x.c", "int main(void) { return 0; }\n")?;
    let mut driver = Command::new(Outputs::get().cc());
    driver
        .arg("--contech-no-such-option")
        .arg(&source)
        .arg("-o")
        .arg(scratch.join("x"));
    let done = run(&mut driver)?;
    clear_error(&done, "--contech-no-such-option", &[]);
    assert!(!scratch.join("x").exists());
    scratch.done();
    Ok(())
}

/// Checks that the program runs as if untraced, with one more line on standard error that names the trace.
fn runs_untraced(trace: &Path) -> Result<()> {
    let plain = run(Command::new(&base().program).env("CONTECH_OFF", "1"))?.ok()?;
    assert_eq!(plain.err(), "", "CONTECH_OFF is silent");
    let traced = run(Command::new(&base().program).env("CONTECH_TRACE", trace))?;
    assert_eq!(
        (plain.status, &plain.stdout),
        (traced.status, &traced.stdout),
        "{traced}"
    );
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

#[test]
fn a_run_switched_off_leaves_no_trace() -> Result<()> {
    let scratch = Scratch::new("bad_input/off")?;
    let mut command = Command::new(&base().program);
    command
        .current_dir(scratch.dir())
        .env("CONTECH_OFF", "1")
        .env("CONTECH_TRACE", "trace.bin");
    run(&mut command)?.ok()?;
    assert_eq!(fs::read_dir(scratch.dir())?.count(), 0);
    scratch.done();
    Ok(())
}
