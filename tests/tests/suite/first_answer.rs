//! What `contech run` says before the page, from a sample of what a long run executed.

use std::path::Path;

use anyhow::{Result, ensure};
use contech_tests::outputs::tool;
use contech_tests::process::run;
use contech_tests::recording::{backend_json, verify};
use contech_tests::scratch::{Scratch, entries};
use contech_tests::toolchain::Toolchain;

const FLAGS: [&str; 3] = ["-O1", "-g", "-pthread"];

/// Two threads that take a lock now and then. Each iteration is recorded, so the trace has more
/// than 16 MB.
const BRANCHY: &str = "\
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned shared;
static void *work(void *all) {
  unsigned x = 1 + (all != 0), *table = all;
  for (int i = 0; i < 6000000; i++) {
    x = x & 4 ? x * 5 + 1 : x * 3 + 7;
    table[x & 1023]++;
    if (!(i & 0xfffff)) {
      pthread_mutex_lock(&lock);
      shared += x;
      pthread_mutex_unlock(&lock);
    }
  }
  return 0;
}
int main(void) {
  static unsigned tables[2][1024];
  pthread_t other;
  pthread_create(&other, 0, work, tables[0]);
  work(tables[1]);
  return pthread_join(other, 0);
}
";

/// What the program does after each of many events is little beside what it does then.
const AFTER_EVENTS: &str = "\
#include <pthread.h>
static volatile unsigned sink;
static unsigned step(unsigned x) { return x & 4 ? x * 5 + 1 : x * 3 + 7; }
static unsigned prepare(unsigned x) {
  for (int i = 0; i < 300; i++) { x = step(x); if (x & 64) sink = x; }
  return x;
}
static unsigned produce(unsigned x) {
  for (int i = 0; i < 120000; i++) { x = step(x); if (x & 64) sink = x; }
  return x;
}
static void *use(void *memory) { return memory; }
int main(void) {
  unsigned x = 1;
  for (int round = 0; round < 200; round++) {
    pthread_t other;
    if (pthread_create(&other, 0, use, 0)) return 1;
    x = prepare(x);
    x = produce(x);
    pthread_join(other, 0);
  }
  return x == 0;
}
";

/// Makes a graph with one part of the code of a trace in so many.
fn convert(every: u32, trace: &Path, graph: &Path) -> Result<()> {
    run(tool("contech-middle").arg(format!("--sample={every}")).args([trace, graph]))?.ok()?;
    Ok(())
}

/// The tasks of a graph with their edges, without the amounts of what they execute, and how many
/// blocks they execute together.
fn tasks(graph: &Path) -> Result<(Vec<impl PartialEq + use<>>, u64)> {
    let (graph, mut all, mut blocks) = (taskgraph::map(graph)?, Vec::new(), 0);
    for task in graph.tasks() {
        let task = task?;
        let does = (task.executor(), task.kind(), task.op(), task.object());
        all.push((task.id(), does, task.start_ns(), task.end_ns(), task.dependencies()?));
        blocks += task.block_count();
    }
    Ok((all, blocks))
}

#[test]
fn a_sample_has_all_tasks_and_edges_and_tells_the_answer_first() -> Result<()> {
    let scratch = Scratch::new("first_answer")?;
    let results = scratch.join("results");
    let program = Toolchain::contech().text(&scratch, "branchy.c", BRANCHY, &FLAGS)?;
    let mut contech = tool("contech");
    contech.args(["run", "--keep-trace", "-o"]).arg(&results);
    let said = run(contech.arg("--").arg(program.get_program()))?.ok()?.err();
    let answers = said.matches("of their").count();
    ensure!(answers == 1, "{answers} answers: {said}");
    ensure!(said.contains(" contexts, "), "{said}");
    ensure!(!said.contains(" block executions"), "{said}");
    let left = entries(&results)?;
    let wanted = ["graph.tg", "report.html", "trace.bin"].map(|name| results.join(name));
    ensure!(left == wanted, "{left:?}");

    let (trace, whole) = (results.join("trace.bin"), results.join("graph.tg"));
    let sample = scratch.join("sample.tg");
    convert(8, &trace, &sample)?;
    let ((all, blocks), (same, sampled)) = (tasks(&whole)?, tasks(&sample)?);
    ensure!(all == same);
    ensure!((1..blocks / 2).contains(&sampled), "{sampled} of {blocks}");
    verify(&sample)?;
    scratch.done()
}

#[test]
fn a_sample_of_the_code_is_no_other_code_than_all_of_it() -> Result<()> {
    let scratch = Scratch::new("first_sample")?;
    let trace = scratch.join("trace.bin");
    let mut program = Toolchain::contech().text(&scratch, "after.c", AFTER_EVENTS, &FLAGS)?;
    run(program.env("CONTECH_TRACE", &trace))?.ok()?;
    for every in [1, 8] {
        let graph = scratch.join("graph.tg");
        convert(every, &trace, &graph)?;
        let account = backend_json(&["account", "--processors=2"], &graph)?;
        // On a busy machine another loss may be larger.
        let mut losses = account["losses"].as_array().into_iter().flatten();
        let serial = losses.find(|row| row["cause"] == "serial");
        let caller = serial.map(|row| &row["callers"][0]["function"]);
        ensure!(caller.is_some_and(|caller| caller == "produce"), "1 in {every}: {account}");
    }
    scratch.done()
}
