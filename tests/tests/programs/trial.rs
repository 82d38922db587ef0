//! One program at one optimisation level, from source to judged graph.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use contech_tests::process::{self, Finished};
use contech_tests::program::Program;
use contech_tests::recording::{Recording, fine};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

use crate::tasks::Graph;
use crate::way::Way;
use crate::{checks, golden, structure, tasks};

/// Runs the program in a way; what is blessed is the `first` one.
pub(crate) fn run(program: &Program, way: &Way, first: bool) -> Result<()> {
    let scratch = Scratch::new(&format!("programs/{}-{way}", program.name))?;
    let plain_dir = scratch.subdir("native")?;
    let traced_dir = scratch.subdir("traced")?;
    let [program, recorded] = &way.built(program);
    let plain = Toolchain::native().program(program, &way.level, &plain_dir)?;
    let traced = Toolchain::contech().program(recorded, &way.level, &traced_dir)?;
    let threads: Vec<_> = program.threads.iter().map(ToString::to_string).collect();
    let mut structures = Vec::new();
    for round in 0..program.repeat.max(threads.len()) {
        if !program.can_run() {
            break;
        }
        let set = |mut command: Command| {
            command.envs(threads.get(round).map(|n| ("OMP_NUM_THREADS", n)));
            command
        };
        let native = process::run(&mut set(command(program, &plain, &plain_dir)))?;
        native.clone().expect(&program.expect)?;
        let traces = traced_dir.join(format!("run{round}"));
        let recording = Recording::of(&mut set(command(program, &traced, &traced_dir)), &traces)?;
        // The output of programs with a check depends on addresses or on the schedule; the check
        // compares it with the graph.
        let said = |run: &Finished| program.check.is_none().then(|| run.stdout.clone());
        process::same(&native, &recording.run, |run| (said(run), run.stderr.clone()))?;
        let graphs = judge(program, way, first, &recording)?;
        if !threads.is_empty() {
            structures.push(structure::of(&graphs[0])?);
        }
    }
    same_tasks(&structures)?;
    scratch.done()
}

/// The explicit tasks must not depend on the number of threads.
fn same_tasks(structures: &[Vec<String>]) -> Result<()> {
    // Chance decides which tasks a cancellation reaches.
    let chance = |s: &Vec<String>| s.iter().any(|t| t.contains("cancel"));
    if let [first, rest @ ..] = structures
        && !structures.iter().any(chance)
        && let Some(other) = rest.iter().find(|other| *other != first)
    {
        bail!("the tasks depend on the number of threads:\n{first:#?}\n{other:#?}");
    }
    Ok(())
}

/// Both builds run as `./prog` in their own directory, so that their output cannot differ by the
/// program's name.
fn command(program: &Program, executable: &Path, dir: &Path) -> Command {
    let name = executable.file_name().unwrap_or_default();
    let mut command = Command::new(Path::new("./").join(name));
    command.current_dir(dir).args(&program.args);
    command.envs(program.env.iter().map(|(k, v)| (k, v)));
    command
}

fn judge(program: &Program, way: &Way, first: bool, recording: &Recording) -> Result<Vec<Graph>> {
    if recording.traces.len() != program.traces {
        bail!("expected {} traces, found {:?}", program.traces, recording.traces);
    }
    let (graphs, compared) = recording.checked(program.mode != "incomplete")?;
    if way.check && compared == 0 {
        bail!("nothing was compared: {}", recording.run);
    }
    // Expectations are of the fine graph, which shows each synchronisation as a task; the usual one
    // orders the same.
    let graphs =
        graphs.iter().map(|graph| taskgraph::map(fine(graph))).collect::<Result<Vec<_>, _>>()?;
    if way.has_graph(program) {
        // The naive form has each turn.
        let short = recording.traces.first().filter(|_| !way.check);
        expected(program, first, &recording.run.out(), short, &graphs)?;
    }
    Ok(graphs)
}

/// Checks that graphs are what the program says. The trace is given if it has to be short.
pub(crate) fn expected(
    program: &Program,
    first: bool,
    said: &str,
    short: Option<&PathBuf>,
    graphs: &[Graph],
) -> Result<()> {
    tasks::check_counts(program, graphs)?;
    tasks::check_edges(program, graphs)?;
    tasks::check_notes(program, graphs)?;
    if program.mode == "golden" {
        golden::compare(program, first, &graphs[0])?;
    }
    if let Some(count) = program.tasks {
        tasks::check_explicit(count, program.depends, &graphs[0])?;
    }
    match &program.check {
        None => Ok(()),
        Some(name) => checks::check(name, said, short, &graphs[0]),
    }
}
