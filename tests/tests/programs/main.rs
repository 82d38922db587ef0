//! Every program of `programs/`, at one of its optimisation levels or in one of the ways in which
//! both forms are recorded and compared; which one depends on the commit (in all ways with `cargo
//! test-all --matrix` and of programs that the command line names). Native and recorded runs must
//! not differ, every trace must give a well-formed graph, and the graph must be the expected one.
//!
//! `CONTECH_BLESS=1 cargo test -p contech-tests --test programs NAME` rewrites golden graphs.

mod checks;
mod golden;
mod rust;
mod structure;
mod tasks;
mod trial;
mod way;

use std::iter::{once, repeat};
use std::path::Path;

use contech_tests::program;
use contech_tests::toolchain::sources;
use contech_tests::verdict::{self, Tools};
use way::Way;

fn main() {
    let arguments = verdict::arguments();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let refuse = |error: anyhow::Error| -> ! {
        eprintln!("{error:#}");
        std::process::exit(1)
    };
    let programs = program::all(&dir).unwrap_or_else(|e| refuse(e));
    let in_rust = rust::programs().unwrap_or_else(|e| refuse(e));
    let all = [&programs[..], &in_rust].concat();
    let name = "every_golden_graph_has_its_program".to_owned();
    let mut trials = vec![verdict::always(name, move || golden::no_orphans(&all))];
    for program in programs {
        for (way, first) in Way::of(&program).into_iter().zip(once(true).chain(repeat(false))) {
            let program = program.clone();
            let name = format!("{}::{way}", program.name);
            let from = (sources(&program).ok(), golden::text(&program));
            let run = move || trial::run(&program, &way, first);
            trials.push(verdict::trial(name, Tools::Recording, &from, run));
        }
    }
    trials.extend(rust::trials(&in_rust).unwrap_or_else(|e| refuse(e)));
    libtest_mimic::run(&arguments, trials).exit();
}
