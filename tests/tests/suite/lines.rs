//! Costs are named by lines of the program, wherever the compiler inlined its code.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use contech_tests::outputs::{Outputs, workspace};
use contech_tests::process::run;
use contech_tests::scratch::Scratch;
use serde_json::Value;

/// The number of the source line that ends with `end`.
fn line_of(source: &str, end: &str) -> Result<u64> {
    let at = source.lines().position(|line| line.ends_with(end));
    Ok(at.context("no such line")? as u64 + 1)
}

fn analysis(name: &str, graph: &Path) -> Result<Value> {
    let mut backend = Command::new(Outputs::get().command("contech-backend"));
    backend.arg(name).arg(graph).args(["--format", "json"]);
    Ok(serde_json::from_slice(&run(&mut backend)?.ok()?.stdout)?)
}

#[test]
fn what_a_thread_does_in_an_inlined_lambda_is_at_the_programs_lines() -> Result<()> {
    let scratch = Scratch::new("lines")?;
    let outputs = Outputs::get();
    let path = workspace().join("tests/programs/cxx_lambda.cpp");
    let source = std::fs::read_to_string(&path)?;
    let (program, trace) = (scratch.join("program"), scratch.join("trace.bin"));
    let graph = scratch.join("graph.tg");
    let mut compiler = Command::new(outputs.command("contech-c++"));
    compiler.args(["-O2", "-g", "-pthread"]).arg(&path);
    run(compiler.arg("-o").arg(&program))?.ok()?;
    run(Command::new(&program).env("CONTECH_TRACE", &trace))?.ok()?;
    let mut middle = Command::new(outputs.command("contech-middle"));
    run(middle.arg(&trace).arg(&graph))?.ok()?;

    let misses = analysis("misses", &graph)?;
    let all = misses["instructions"].as_array().context("instructions")?;
    let most = all
        .iter()
        .filter(|row| row["access"] == "write")
        .max_by_key(|row| row["accesses"].as_u64())
        .context("no write")?;
    ensure!(
        most["file"]
            .as_str()
            .is_some_and(|file| file.ends_with("/cxx_lambda.cpp")),
        "{most}"
    );
    ensure!(most["line"] == line_of(&source, "// fill")?, "{most}");
    scratch.done();
    Ok(())
}
const INLINED: &str = "\
#include <vector>
static inline long weigh(const std::vector<int>& all) {
  long sum = 0;
  for (int one : all) sum += one * one; // weighed
  return sum;
}
static inline long both(const std::vector<int>& all) {
  return weigh(all) + 1;
}
int main(int count, char** arguments) {
  std::vector<int> all(count << 16, arguments[0][0]); // fill
  return both(all) == 77;
}
";

#[test]
fn inlined_code_has_the_name_of_its_own_function() -> Result<()> {
    let scratch = Scratch::new("inlined")?;
    let outputs = Outputs::get();
    let source = scratch.write("inlined.cpp", INLINED)?;
    let (program, trace) = (scratch.join("program"), scratch.join("trace.bin"));
    let graph = scratch.join("graph.tg");
    let mut compiler = Command::new(outputs.command("contech-c++"));
    compiler.args(["-O2", "-g", "-o"]).arg(&program).arg(source);
    run(&mut compiler)?.ok()?;
    run(Command::new(&program).env("CONTECH_TRACE", &trace))?.ok()?;
    let mut middle = Command::new(outputs.command("contech-middle"));
    run(middle.arg(&trace).arg(&graph))?.ok()?;

    let misses = analysis("misses", &graph)?;
    let all = misses["instructions"].as_array().context("instructions")?;
    // The library fills the vector, which the program calls.
    for (access, function, end) in [
        ("read", "weigh(", "// weighed"),
        ("write", "main", "// fill"),
    ] {
        let rows = all.iter().filter(|row| row["access"] == access);
        let most = rows.max_by_key(|row| row["accesses"].as_u64());
        let most = most.context("no such row")?;
        let name = most["function"].as_str().unwrap_or_default();
        ensure!(name.starts_with(function), "{most}");
        ensure!(most["line"] == line_of(INLINED, end)?, "{most}");
    }
    scratch.done();
    Ok(())
}
