//! What `contech run` says before the page: from a sample of what a long run executed, and of
//! several runs.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use contech_tests::outputs::Outputs;
use contech_tests::process::run;
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

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
    let mut middle = Command::new(Outputs::get().command("contech-middle"));
    middle.arg(format!("--sample={every}"));
    run(middle.args([trace, graph]))?.ok()?;
    Ok(())
}

/// The rows of tasks or edges.
fn rows(what: &str, graph: &Path) -> Result<Vec<String>> {
    let mut backend = Command::new(Outputs::get().command("contech-backend"));
    let text = run(backend.args(["dump", what]).arg(graph))?.ok()?.stdout;
    Ok(String::from_utf8(text)?.lines().map(str::to_owned).collect())
}

/// The rows of tasks without the amounts of what they execute, and how many blocks they execute
/// together.
fn tasks(graph: &Path) -> Result<(Vec<String>, u64)> {
    let (mut rows, mut blocks) = (rows("--tasks", graph)?, 0);
    for row in &mut rows {
        let fields: Vec<&str> = row.split(' ').collect();
        blocks += fields[7].parse::<u64>()?;
        *row = fields[..7].join(" ");
    }
    Ok((rows, blocks))
}

/// The names of the files in a folder.
fn files(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for file in std::fs::read_dir(folder)? {
        names.push(file?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

const SERIAL: &str = "\
static volatile unsigned sum;
static void burn(void) { // burn
  for (unsigned i = 0; i < 3000000; i++) sum += i;
}
int main(void) {
  burn();
  return 0;
}
";

#[test]
fn repeats_agree_and_differ_by_nothing() -> Result<()> {
    let scratch = Scratch::new("repeats")?;
    let outputs = Outputs::get();
    let source = scratch.write("serial.c", SERIAL)?;
    let (program, results) = (scratch.join("program"), scratch.join("results"));
    Toolchain::contech().compile(&source, &["-O0", "-g"], &program)?;
    let mut contech = Command::new(outputs.command("contech"));
    contech.args(["run", "--repeat", "3", "-o"]).arg(&results);
    let said = run(contech.arg("--").arg(&program))?.ok()?.stderr;
    let said = String::from_utf8(said)?.split_whitespace().collect::<Vec<_>>().join(" ");
    ensure!(said.contains("contech: 3 runs took "), "{said}");
    ensure!(said.contains("First in 3: serial, most of it in burn"), "{said}");
    let left = files(&results)?;
    ensure!(left == ["graph.2.tg", "graph.3.tg", "graph.tg", "report.html"], "{left:?}");
    let page = std::fs::read_to_string(results.join("report.html"))?;
    ensure!(page.contains(" in 3 runs)"), "no range of gains on the page");

    let mut contech = Command::new(outputs.command("contech"));
    let said = run(contech.arg("diff").args([&results, &results]))?.ok()?.stdout;
    let said = String::from_utf8(said)?.split_whitespace().collect::<Vec<_>>().join(" ");
    ensure!(said.contains("differ by nothing that repeats of one of them would not"), "{said}");
    scratch.done();
    Ok(())
}

#[test]
fn a_sample_has_all_tasks_and_edges_and_tells_the_answer_first() -> Result<()> {
    let scratch = Scratch::new("first_answer")?;
    let outputs = Outputs::get();
    let source = scratch.write("branchy.c", BRANCHY)?;
    let (program, results) = (scratch.join("program"), scratch.join("results"));
    Toolchain::contech().compile(&source, &["-O1", "-g", "-pthread"], &program)?;
    let mut contech = Command::new(outputs.command("contech"));
    contech.args(["run", "--keep-trace", "-o"]).arg(&results);
    let said = run(contech.arg("--").arg(&program))?.ok()?.stderr;
    let said = String::from_utf8(said)?;
    let answers = said.matches("of their").count();
    ensure!(answers == 1, "{answers} answers: {said}");
    ensure!(said.contains(" contexts, "), "{said}");
    ensure!(!said.contains(" block executions"), "{said}");
    let left = files(&results)?;
    ensure!(left == ["graph.tg", "report.html", "trace.bin"], "{left:?}");

    let (trace, whole) = (results.join("trace.bin"), results.join("graph.tg"));
    let sample = scratch.join("sample.tg");
    convert(8, &trace, &sample)?;
    ensure!(rows("--edges", &whole)? == rows("--edges", &sample)?);
    let ((all, blocks), (same, sampled)) = (tasks(&whole)?, tasks(&sample)?);
    ensure!(all == same);
    ensure!((1..blocks / 2).contains(&sampled), "{sampled} of {blocks}");
    let mut backend = Command::new(outputs.command("contech-backend"));
    run(backend.arg("verify").arg(&sample))?.ok()?;
    scratch.done();
    Ok(())
}

#[test]
fn a_sample_of_the_code_is_no_other_code_than_all_of_it() -> Result<()> {
    let scratch = Scratch::new("first_sample")?;
    let outputs = Outputs::get();
    let source = scratch.write("after.c", AFTER_EVENTS)?;
    let (program, trace) = (scratch.join("program"), scratch.join("trace.bin"));
    Toolchain::contech().compile(&source, &["-O1", "-g", "-pthread"], &program)?;
    run(Command::new(&program).env("CONTECH_TRACE", &trace))?.ok()?;
    for every in [1, 8] {
        let graph = scratch.join("graph.tg");
        convert(every, &trace, &graph)?;
        let mut backend = Command::new(outputs.command("contech-backend"));
        let json = backend.args(["account", "--processors=2", "--format=json"]);
        let json = run(json.arg(&graph))?.ok()?.stdout;
        let account: serde_json::Value = serde_json::from_slice(&json)?;
        // On a busy machine another loss may be larger.
        let mut losses = account["losses"].as_array().into_iter().flatten();
        let serial = losses.find(|row| row["cause"] == "serial");
        let caller = serial.map(|row| &row["callers"][0]["function"]);
        ensure!(caller.is_some_and(|caller| caller == "produce"), "1 in {every}: {account}");
    }
    scratch.done();
    Ok(())
}
