//! The programs of `bench/scaling` compute the same with any number of threads and in all variants.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::{Result, ensure};
use contech_tests::outputs::workspace;
use contech_tests::process::run;
use contech_tests::scaling::{CASES, Case};

/// Programs in which one variant does less than the other, so that the variants have different results.
const OF_OTHER_SIZE: [&str; 2] = ["cilksort", "array"];

#[test]
fn each_program_computes_the_same_with_any_number_of_threads_and_in_all_variants() -> Result<()> {
    for case in &CASES {
        let program = case.built()?;
        let mut results = BTreeSet::new();
        for arguments in case.small {
            let expected = Case::output(&program, "0", arguments)?;
            ensure!(!expected.trim().is_empty(), "{} says nothing", case.name());
            for threads in ["1", "2", "4"] {
                let got = Case::output(&program, threads, arguments)?;
                let name = case.name();
                ensure!(
                    got == expected,
                    "{name} {threads} {arguments:?}: {got}, not {expected}"
                );
            }
            results.insert(expected);
        }
        let of_other_size = OF_OTHER_SIZE.contains(&case.name());
        let same = results.len() == 1;
        ensure!(
            of_other_size || same,
            "{}: variants differ: {results:?}",
            case.name()
        );
    }
    Ok(())
}

#[test]
fn cilksort_without_tasks_sorts_the_same() -> Result<()> {
    let case = Case::named("cilksort")?;
    let program = case.built()?;
    for arguments in case.small {
        let expected = Case::output(&program, "0", arguments)?;
        assert_eq!(Case::output(&program, "elided", arguments)?, expected);
    }
    Ok(())
}

#[test]
fn each_program_says_how_it_is_called() -> Result<()> {
    for case in &CASES {
        let program = case.built()?;
        for arguments in [&[][..], &["-1"], &["two"], &["1", "neither"]] {
            let done = run(Command::new(&program).args(arguments))?.expect("exit 2")?;
            assert!(done.err().starts_with("usage: "), "{done}");
        }
    }
    Ok(())
}

#[test]
fn each_program_is_in_the_readme() -> Result<()> {
    let readme = std::fs::read_to_string(workspace().join("bench/scaling/README.md"))?;
    for case in &CASES {
        let (row, name) = (format!("| {} |", case.name()), case.name());
        assert!(readme.contains(&row), "{name} is not in the table");
    }
    Ok(())
}
