//! Work and span of recorded OpenMP programs whose parallelism is tasks alone, in operations.

use std::path::Path;

use anyhow::{Context, Result};
use contech_tests::recording::{Recording, backend_json};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;
use serde_json::Value;

/// Programs in which the waits nest like the functions, wait for tasks of callers too, for tasks
/// that a function left to its caller, or for whole trees.
const FORK_JOIN: [(&str, &[&str]); 8] = [
    ("waits_for_callers.c", &["-O1", "-DN=1500"]),
    ("waits_for_callers.c", &["-O1", "-DN=2000"]),
    ("waits_for_callers.c", &["-O0", "-DN=100"]),
    ("leaves_tasks.c", &["-O1"]),
    ("../omp_fib.c", &["-O1", "12"]),
    ("../omp_sort.c", &["-O1", "1000"]),
    ("../omp_nqueens.c", &["-O2", "6"]),
    ("../omp_tree.c", &["-O1"]),
];

/// The profile of a run with one thread. Options begin with a hyphen, and arguments of the program
/// do not.
fn recorded(name: &str, options: &[&str]) -> Result<Value> {
    let words = format!("spans-{name}-{}", options.concat());
    let scratch = Scratch::new(&words.replace(['/', '.'], "-"))?;
    let (options, arguments): (Vec<&str>, Vec<&str>) =
        options.iter().partition(|option| option.starts_with('-'));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/spans");
    let (contech, flags) = (Toolchain::contech(), [&["-fopenmp"], &options[..]].concat());
    let mut command = contech.compile(&source.join(name), &flags, &scratch.join("program"))?;
    command.args(arguments).env("OMP_NUM_THREADS", "1");
    let (_, graph) = Recording::whole(&mut command, &scratch.join("traces"))?;
    let profile = backend_json(&["workspan", "--metric", "ops"], &graph)?;
    scratch.done()?;
    Ok(profile)
}

#[test]
fn no_local_span_of_a_fork_join_program_is_above_its_local_work() -> Result<()> {
    for (name, options) in FORK_JOIN {
        let profile = recorded(name, options)?;
        let said = format!("{name} {options:?}");
        let sites = profile["sites"].as_array().context("sites")?;
        assert!(sites.len() > 3, "{said}: {profile}");
        let mut longest = 0;
        for site in sites {
            for on in ["on_work", "on_span"] {
                let local = &site[on]["local"];
                let (work, span) = (local["work"].as_u64(), local["span"].as_u64());
                assert!(work.is_some() && span <= work, "{said}, {on}: {site}");
                longest = longest.max(span.unwrap_or(0));
            }
            let one = &site["on_work"]["top_call_site"];
            if one["count"] == 1 {
                assert!(one["span"].as_u64() <= profile["span"].as_u64(), "{said}: {site}");
            }
        }
        assert!(longest > 0, "{said}");
        // The program has parallelism though one thread ran it.
        assert!(profile["span"].as_u64() < profile["work"].as_u64(), "{said}");
    }
    Ok(())
}
