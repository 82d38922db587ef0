//! The recorded program: its trace goes to the folder, and everything else is as without recording.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result};
use rustix::process::Signal;

use super::interrupt::{Interrupt, Work};
use super::recorder::Recorder;
use crate::laboratory::{cannot_start, how_ended};

/// What is run, and how much of it is recorded.
#[derive(Debug, clap::Args)]
pub(super) struct Run {
    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    program: Vec<OsString>,
    // After the program, which is not below its heading.
    #[command(flatten)]
    recorder: Recorder,
}

/// A program that ran.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) name: String,
    pub(super) pid: u32,
    status: ExitStatus,
}

impl Program {
    /// Runs a program to the end; its trace goes to `trace`.
    pub(super) fn run(run: &Run, trace: &OsStr, interrupt: &Interrupt) -> Result<Self> {
        let words = run.program.split_first();
        let (program, arguments) = words.context("name a program to run")?;
        let variables = run.recorder.variables(trace);
        let name = program.to_string_lossy().into_owned();
        let mut command = Command::new(program);
        command.args(arguments).envs(variables);
        let (child, status) = interrupt
            .run(&mut command, Work::Program)
            .map_err(|error| cannot_start(&name, error))?;
        Ok(Self { name, pid: child.id(), status })
    }

    /// How the program ended, in words.
    pub(super) fn outcome(&self) -> String {
        match self.status.success() {
            true => "finished".to_owned(),
            false => how_ended(self.status),
        }
    }

    /// Whether ctrl-C ended it.
    pub(super) fn was_interrupted(&self) -> bool {
        self.status.signal() == Some(Signal::INT.as_raw())
    }

    /// Its exit status in the form of a shell: 128 + the signal if a signal ended it.
    pub(super) fn status(&self) -> u8 {
        let code = self.status.code().or_else(|| self.status.signal().map(|signal| 128 + signal));
        code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
    }
}
