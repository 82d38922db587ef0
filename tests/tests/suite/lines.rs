//! Costs are named by lines of the program, wherever the compiler inlined its code.

use std::fs;

use anyhow::{Context, Result, ensure};
use contech_tests::outputs::workspace;
use contech_tests::recording::{Recording, backend_json};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

/// The number of the source line that ends with `end`.
fn line_of(source: &str, end: &str) -> Result<u64> {
    let at = source.lines().position(|line| line.ends_with(end));
    Ok(at.context("no such line")? as u64 + 1)
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
fn inlined_code_has_the_programs_lines_and_the_name_of_its_own_function() -> Result<()> {
    let lambda = fs::read_to_string(workspace().join("tests/programs/cxx_lambda.cpp"))?;
    for (name, text, most_in) in [
        // What a thread does in a lambda.
        ("lambda.cpp", &*lambda, &[("write", "", "// fill")][..]),
        // The library fills the vector, which the program calls.
        ("inlined.cpp", INLINED, &[("read", "weigh(", "// weighed"), ("write", "main", "// fill")]),
    ] {
        let scratch = Scratch::new(&format!("lines/{name}"))?;
        let flags = ["-O2", "-g", "-pthread"];
        let mut program = Toolchain::contech().text(&scratch, name, text, &flags)?;
        let (_, graph) = Recording::whole(&mut program, &scratch.join("traces"))?;
        let misses = backend_json(&["misses"], &graph)?;
        let all = misses["instructions"].as_array().context("instructions")?;
        for &(access, function, end) in most_in {
            let rows = all.iter().filter(|row| row["access"] == access);
            let most = rows.max_by_key(|row| row["accesses"].as_u64()).context("no such row")?;
            let said = |key: &str| most[key].as_str().unwrap_or_default();
            ensure!(
                said("file").ends_with(name) && said("function").starts_with(function),
                "{most}"
            );
            ensure!(most["line"] == line_of(text, end)?, "{most}");
        }
        scratch.done()?;
    }
    Ok(())
}
