//! OpenMP runtimes that do not report what the program does. One line says so and what to do, the
//! program behaves as before, and the graph has a note.

use std::process::Command;

use anyhow::Result;
use contech_tests::outputs::workspace;
use contech_tests::process::run;
use contech_tests::recording::{self, Recording};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

const PROGRAM: &str = "#include <stdio.h>\nint work(int);\nint main(void) { printf(\"%d\\n\", work(4)); return 0; }\n";
const WORK: &str = "int work(int n) {\n  int sum = 0;\n#pragma omp parallel num_threads(2)\n  {\n#pragma omp critical\n    sum += n;\n  }\n  return sum;\n}\n";

/// Checks for one line on standard error with these words, no other change, and the same words in
/// the graph's notes.
#[track_caller]
fn told(recording: &Recording, words: &[&str]) -> Result<()> {
    let said = recording.run.err();
    assert_eq!(recording.run.out(), "8\n", "{}", recording.run);
    assert_eq!(said.lines().count(), 1, "{}", recording.run);
    assert!(said.starts_with("contech: "), "{said}");
    let notes = recording::told(&recording.graphs(true)?[0])?;
    for word in words {
        assert!(said.contains(word), "no {word} in {said}");
        assert!(notes.contains(word), "no {word} in {notes}");
    }
    Ok(())
}

#[test]
fn a_libomp_that_may_not_use_tools_is_named() -> Result<()> {
    let scratch = Scratch::new("openmp/no_tool")?;
    let work = scratch.write("work.c", WORK)?.display().to_string();
    let flags = ["-O1", "-fopenmp", &work];
    let mut command = Toolchain::contech().text(&scratch, "main.c", PROGRAM, &flags)?;
    command.env("OMP_TOOL", "disabled");
    let recording = Recording::of(&mut command, &scratch.join("traces"))?;
    told(&recording, &["libomp", "OMPT", "OMP_TOOL"])?;
    scratch.done()
}

/// A recording of the program whose parallel part, `work`, gcc compiled.
fn with_libgomp(scratch: &Scratch, work: &str) -> Result<Recording> {
    let source = scratch.write("work.c", work)?;
    let work = source.with_extension("o");
    let mut gcc = Command::new("gcc");
    run(gcc.args(["-O1", "-fopenmp", "-c"]).arg(&source).arg("-o").arg(&work))?.ok()?;
    let work = work.display().to_string();
    let flags = ["-O1", &work, "-L/usr/lib/gcc/x86_64-linux-gnu/12", "-lgomp"];
    let mut command = Toolchain::contech().text(scratch, "main.c", PROGRAM, &flags)?;
    Recording::of(&mut command, &scratch.join("traces"))
}

#[test]
fn a_program_linked_to_libgomp_is_told_what_to_do() -> Result<()> {
    let scratch = Scratch::new("openmp/libgomp")?;
    let recording = with_libgomp(&scratch, WORK)?;
    told(&recording, &["libgomp", "contech-cc -fopenmp", "libomp-22-dev"])?;
    scratch.done()
}

#[test]
fn a_libgomp_that_makes_no_thread_is_noted_in_the_graph() -> Result<()> {
    let scratch = Scratch::new("openmp/libgomp_alone")?;
    let alone = WORK.replace("num_threads(2)", "num_threads(1)");
    let recording = with_libgomp(&scratch, &alone)?;
    assert_eq!(recording.run.clone().ok()?.out(), "4\n");
    assert_eq!(recording.run.err(), "");
    let notes = recording::told(&recording.graphs(true)?[0])?;
    assert!(notes.contains("libgomp is loaded and made no thread"), "{notes}");
    scratch.done()
}

/// libomp announces the region in the teams twice when the host runs it, and runs it once.
const TARGET: &str = r"
int main(void) {
    int a[256];
#pragma omp target teams distribute parallel for map(tofrom : a)
    for (int i = 0; i < 256; i++) a[i] = i;
    return a[7] != 7;
}
";

#[test]
fn a_target_region_that_the_host_runs_has_no_task_that_never_begins() -> Result<()> {
    let scratch = Scratch::new("openmp/target")?;
    let flags = ["-O1", "-g", "-fopenmp"];
    let mut command = Toolchain::contech().text(&scratch, "target.c", TARGET, &flags)?;
    command.env("OMP_NUM_THREADS", "4");
    let (_, graph) = Recording::whole(&mut command, &scratch.join("traces"))?;
    let notes = recording::told(&graph)?;
    assert!(!notes.contains("not begun"), "{notes}");
    scratch.done()
}

#[test]
fn a_task_makes_no_change_of_the_signal_mask() -> Result<()> {
    let scratch = Scratch::new("openmp/mask")?;
    let source = workspace().join("tests/programs/omp_fib.c");
    Toolchain::contech().compile(&source, &["-O1", "-fopenmp"], &scratch.join("fib"))?;
    let calls = |n: &str| -> Result<usize> {
        let list = scratch.join(format!("calls{n}"));
        let mut command = Command::new("strace");
        command.args(["-f", "-e", "trace=rt_sigprocmask", "-o"]);
        command.arg(&list).arg(scratch.join("fib")).arg(n);
        command.env("CONTECH_TRACE", "null");
        run(command.env("OMP_NUM_THREADS", "2"))?.ok()?;
        let list = std::fs::read_to_string(list)?;
        Ok(list.lines().filter(|l| l.contains("rt_sigprocmask(")).count())
    };
    // 1,972 tasks, and 14.
    let (many, few) = (calls("15")?, calls("5")?);
    assert!(few > 0 && many < few + 400, "{many} calls, {few} of few tasks");
    scratch.done()
}
