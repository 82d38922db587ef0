//! Marks that programs set themselves, in C, C++, Fortran and Rust.

use std::process::Command;

use anyhow::{Result, ensure};
use contech_observation::{Model, State};
use contech_tests::outputs::workspace;
use contech_tests::process::{Finished, run, same};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

use super::observed::{MS, between, build, build_rust, observe, observed, phases};

#[test]
fn what_the_program_marks_is_measured_in_each_language() -> Result<()> {
    let scratch = Scratch::new("observe-marks")?;
    let headers = workspace().join("instrument/cc/include");
    let include = format!("-I{}", headers.display());
    let module = headers.join("contech/observe.f90").display().to_string();
    std::fs::copy(headers.join("contech/observe.rs"), scratch.join("observe.rs"))?;
    for language in ["c", "cpp", "f90", "rs"] {
        let program = match language {
            "f90" => {
                let source = workspace().join("tests/programs/observe/marks.f90");
                let to = scratch.join("prog");
                let mut command = Command::new(Toolchain::contech().fc);
                command.args(["-O2", &module]).arg(source).arg("-J").arg(scratch.dir());
                run(command.env("CONTECH_OFF", "1").arg("-o").arg(&to))?.ok()?;
                to
            }
            "rs" => {
                let source = scratch.join("marks.rs");
                std::fs::copy(workspace().join("tests/programs/observe/marks.rs"), &source)?;
                build_rust(&scratch, &source)?
            }
            _ => build(&scratch, &format!("marks.{language}"), &[&include])?,
        };
        let native = run(Command::new(&program).env("CONTECH_OFF", "1"))?.ok()?;
        let mut command = observed(&program, &[]);
        let (finished, observation) = observe(command.env("CONTECH_OFF", "1"))?;
        same(&native, &finished, Finished::said)?;
        ensure!(observation.region, "{language}");
        let most = observation.run.t_ns / MS + 1;
        between(language, observation.run.t_ns, 299, most)?;
        let times = observation.run.times;
        between("idle", times.of(State::Idle), 99, most)?;
        between("scheduling", times.of(State::Scheduling), 99, most)?;
        between("running", times.of(State::Running), 99, most)?;
        between("all", times.total(), most - 2, most)?;
        let [phase] = phases(&observation)?;
        ensure!((phase.model, phase.place.symbol.as_str()) == (Model::Marked, "marked"));
        between("phase", phase.times.of(State::Scheduling), 99, phase.wall_ns / MS + 1)?;
        ensure!(phase.times.of(State::Idle) == 0);
    }
    scratch.done()
}
