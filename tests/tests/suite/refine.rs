//! Partition refinement in C and C++ programs: the results are those without it, whatever the sizes.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use contech_tests::outputs::workspace;
use contech_tests::process::run;
use contech_tests::scaling::{Case, compile, refinement_flags};
use contech_tests::scratch::Scratch;

/// The result of all examples, which work on the same rows.
const SUM: &str = "e524ef07386564c0\n";

fn example(name: &str, dir: &Path) -> Result<()> {
    let source = workspace().join("runtime/refine/examples").join(name);
    let program = dir.join("example");
    compile(&source, &refinement_flags()?, &program)?;
    for threads in ["1", "2", "5"] {
        let mut command = Command::new(&program);
        let done = run(command.env("OMP_NUM_THREADS", threads))?.ok()?;
        ensure!(done.out() == SUM, "{threads} threads: {done}");
    }
    Ok(())
}

#[test]
fn the_example_in_c_computes_what_it_should() -> Result<()> {
    let scratch = Scratch::new("refine-c")?;
    example("openmp.c", scratch.dir())?;
    scratch.done();
    Ok(())
}

#[test]
fn the_example_with_tasks_in_cxx_computes_what_it_should() -> Result<()> {
    let scratch = Scratch::new("refine-cxx")?;
    example("tasks.cpp", scratch.dir())?;
    scratch.done();
    Ok(())
}

#[test]
fn the_grid_is_the_same_with_refined_partitions() -> Result<()> {
    let scratch = Scratch::new("refine-grid")?;
    let grid = Case::named("grid")?.build_with_refinement(scratch.dir())?;
    let sizes = ["9000", "30", "clumps"];
    let output = |threads: &str, variant: &str, side: &str| -> Result<String> {
        let mut command = Command::new(&grid);
        command.args([threads, variant, side]).args(sizes);
        Ok(run(&mut command)?.ok()?.out())
    };
    let expected = output("0", "colours", "2")?;
    for threads in ["1", "2", "4"] {
        for side in ["2", "64"] {
            let got = output(threads, "refine", side)?;
            ensure!(got == expected, "{threads} {side}: {got}, not {expected}");
        }
    }
    scratch.done();
    Ok(())
}

#[test]
fn a_null_pointer_is_a_refinement_that_suggests_one() -> Result<()> {
    let scratch = Scratch::new("refine-null")?;
    let source = scratch.write(
        "null.c",
        r#"
#include <contech/refine.h>
#include <stdio.h>
int main(void) {
  struct contech_refine *none = contech_refine_create(10, UINT32_MAX, 1);
  unsigned long size = contech_refine_round_begin(none);
  contech_refine_limits(none, 1, 2);
  contech_refine_dispatch_begin(none, 0, 0), contech_refine_dispatch_end(none, 0);
  contech_refine_part_begin(none, 0, 0), contech_refine_part_end(none, 0);
  contech_refine_round_end(none);
  printf("%d %lu %lu %d %g %g\n", none == NULL, size, (unsigned long)contech_refine_size(none), contech_refine_holds(none),
         contech_refine_scheduling(none), contech_refine_imbalance(none));
  contech_refine_destroy(none);
}
"#,
    )?;
    let program = scratch.join("null");
    compile(&source, &refinement_flags()?, &program)?;
    let done = run(&mut Command::new(&program))?.ok()?;
    assert_eq!(done.out(), "1 1 1 1 0 0\n");
    scratch.done();
    Ok(())
}
