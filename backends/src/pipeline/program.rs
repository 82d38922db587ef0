//! The recorded program: its trace goes to the folder, and everything else is as without recording.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result, anyhow};
use rustix::process::Signal;

use super::interrupt::{Interrupt, Work};

/// A program that ran.
#[derive(Debug)]
pub(super) struct Program {
    name: String,
    pid: u32,
    status: ExitStatus,
}

impl Program {
    /// Runs `words` to the end, with these variables.
    pub(super) fn run(
        words: &[OsString],
        variables: Vec<(&'static str, OsString)>,
        interrupt: &Interrupt,
    ) -> Result<Self> {
        let (program, arguments) = words.split_first().context("name a program to run")?;
        let name = program.to_string_lossy().into_owned();
        let mut command = Command::new(program);
        command.args(arguments).envs(variables);
        let (child, status) = interrupt
            .run(&mut command, Work::Program)
            .map_err(|error| cannot_start(&name, error))?;
        Ok(Self {
            name,
            pid: child.id(),
            status,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// How the program ended, in words.
    pub(super) fn outcome(&self) -> String {
        match (self.status.code(), self.status.signal()) {
            (Some(0), _) => "finished".to_owned(),
            (Some(code), _) => format!("exited with status {code}"),
            (None, Some(signal)) => format!("was ended by signal {signal}"),
            (None, None) => "ended".to_owned(),
        }
    }

    /// Whether ctrl-C ended it.
    pub(super) fn was_interrupted(&self) -> bool {
        self.status.signal() == Some(Signal::INT.as_raw())
    }

    /// Its exit status in the form of a shell: 128 + the signal if a signal ended it.
    pub(super) fn status(&self) -> u8 {
        let code = self
            .status
            .code()
            .or_else(|| self.status.signal().map(|signal| 128 + signal));
        code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
    }
}

pub(crate) fn cannot_start(name: &str, error: io::Error) -> anyhow::Error {
    let advice = match error.kind() {
        io::ErrorKind::NotFound if !name.contains('/') => {
            format!(": no program of that name in PATH; write ./{name} for one in this folder")
        }
        io::ErrorKind::NotFound => ": no such file".to_owned(),
        io::ErrorKind::PermissionDenied => ": it is not executable".to_owned(),
        _ => String::new(),
    };
    anyhow!(error).context(format!("cannot start {name}{advice}"))
}
