//! The first answer of a long run comes from a graph with a sample of what was executed.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use contech_tests::outputs::Outputs;
use contech_tests::process::run;
use contech_tests::scratch::Scratch;

/// Two threads that take a lock now and then. Each iteration is recorded, so the trace has more than 32 MB.
const BRANCHY: &str = "\
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned shared;
static void *work(void *all) {
  unsigned x = 1 + (all != 0), *table = all;
  for (int i = 0; i < 4000000; i++) {
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

/// The rows of tasks or edges. Those of tasks are without the amounts of what they execute.
fn rows(what: &str, graph: &Path) -> Result<Vec<String>> {
    let mut backend = Command::new(Outputs::get().command("contech-backend"));
    let text = run(backend.args(["dump", what]).arg(graph))?.ok()?.stdout;
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        match what {
            "--tasks" => fields[..7].join(" "),
            _ => line.to_owned(),
        }
    };
    Ok(String::from_utf8(text)?.lines().map(row).collect())
}

#[test]
fn a_sample_has_all_tasks_and_edges_and_tells_the_answer_first() -> Result<()> {
    let scratch = Scratch::new("first_answer")?;
    let outputs = Outputs::get();
    let source = scratch.write("branchy.c", BRANCHY)?;
    let (program, results) = (scratch.join("program"), scratch.join("results"));
    let mut compiler = Command::new(outputs.command("contech-cc"));
    compiler.args(["-O1", "-g", "-pthread", "-o"]).arg(&program);
    run(compiler.arg(source))?.ok()?;
    let mut contech = Command::new(outputs.command("contech"));
    contech.args(["run", "--keep-trace", "-o"]).arg(&results);
    let said = run(contech.arg("--").arg(&program))?.ok()?.stderr;
    let said = String::from_utf8(said)?;
    let answers = said.matches("of their").count();
    ensure!(answers == 1, "{answers} answers: {said}");
    ensure!(said.contains(" contexts, "), "{said}");
    ensure!(!said.contains(" block executions"), "{said}");
    let mut left = Vec::new();
    for file in std::fs::read_dir(&results)? {
        left.push(file?.file_name().to_string_lossy().into_owned());
    }
    left.sort();
    ensure!(left == ["graph.tg", "report.html", "trace.bin"], "{left:?}");

    let (trace, whole) = (results.join("trace.bin"), results.join("graph.tg"));
    let sample = scratch.join("sample.tg");
    let mut middle = Command::new(outputs.command("contech-middle"));
    run(middle.arg("--sample=8").arg(trace).arg(&sample))?.ok()?;
    for what in ["--tasks", "--edges"] {
        ensure!(rows(what, &whole)? == rows(what, &sample)?, "{what}");
    }
    let mut backend = Command::new(outputs.command("contech-backend"));
    run(backend.arg("verify").arg(&sample))?.ok()?;
    let bytes = |path: &Path| Ok::<_, std::io::Error>(path.metadata()?.len());
    ensure!(bytes(&sample)? < bytes(&whole)? / 2, "no sample");
    scratch.done();
    Ok(())
}
