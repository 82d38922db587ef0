//! Costs are named by lines of the program, wherever the compiler inlined its code.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use contech_tests::outputs::workspace;
use contech_tests::recording::{Recording, backend_json};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;
use serde_json::Value;

/// The number of the source line that ends with `end`.
fn line_of(source: &str, end: &str) -> Result<u64> {
    let at = source.lines().position(|line| line.ends_with(end));
    Ok(at.context("no such line")? as u64 + 1)
}

fn misses(source: &Path, scratch: &Scratch) -> Result<Value> {
    let flags = ["-O2", "-g", "-pthread"];
    let mut program = Toolchain::contech().compile(source, &flags, &scratch.join("program"))?;
    let (_, graph) = Recording::whole(&mut program, &scratch.join("traces"))?;
    backend_json(&["misses"], &graph)
}

#[test]
fn what_a_thread_does_in_an_inlined_lambda_is_at_the_programs_lines() -> Result<()> {
    let scratch = Scratch::new("lines")?;
    let path = workspace().join("tests/programs/cxx_lambda.cpp");
    let source = std::fs::read_to_string(&path)?;
    let misses = misses(&path, &scratch)?;
    let all = misses["instructions"].as_array().context("instructions")?;
    let most = all
        .iter()
        .filter(|row| row["access"] == "write")
        .max_by_key(|row| row["accesses"].as_u64())
        .context("no write")?;
    ensure!(most["file"].as_str().is_some_and(|file| file.ends_with("/cxx_lambda.cpp")), "{most}");
    ensure!(most["line"] == line_of(&source, "// fill")?, "{most}");
    scratch.done()
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
    let source = scratch.write("inlined.cpp", INLINED)?;
    let misses = misses(&source, &scratch)?;
    let all = misses["instructions"].as_array().context("instructions")?;
    // The library fills the vector, which the program calls.
    for (access, function, end) in [("read", "weigh(", "// weighed"), ("write", "main", "// fill")]
    {
        let rows = all.iter().filter(|row| row["access"] == access);
        let most = rows.max_by_key(|row| row["accesses"].as_u64());
        let most = most.context("no such row")?;
        let name = most["function"].as_str().unwrap_or_default();
        ensure!(name.starts_with(function), "{most}");
        ensure!(most["line"] == line_of(INLINED, end)?, "{most}");
    }
    scratch.done()
}
