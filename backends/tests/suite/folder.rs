//! A folder in which a test runs the commands, and the programs that it starts with them.
//!
//! Another process writes what is to be started: a file that this one has open for writing is open
//! in every process that another test forks meanwhile, until that one executes something, and
//! cannot be started ("text file busy").

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::samples::{two, write};

const BACKEND: &str = env!("CARGO_BIN_EXE_contech-backend");

/// A folder with the graph of [`two`]; removed at the end.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        write(two(), &folder.path("two.tg"));
        folder
    }

    /// With `contech` in it, too, which looks for other programs beside itself.
    pub(crate) fn installed() -> Self {
        let folder = Self::new();
        install(env!("CARGO_BIN_EXE_contech").as_ref(), &folder.path("contech"));
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Makes a shell script, in place of one of the same name.
    pub(crate) fn script(&self, name: &str, body: &str) {
        let text = self.path(&format!("{name}.text"));
        fs::write(&text, format!("#!/bin/sh\n{body}\n")).unwrap();
        install(&text, &self.path(name));
        fs::remove_file(text).unwrap();
    }

    /// A command, in the folder and without input.
    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.0.path()).stdin(Stdio::null());
        // A sentence is one line then.
        command.env("COLUMNS", "10000");
        command
    }

    /// `contech` with the words of `line`.
    pub(crate) fn contech(&self, line: &str) -> Command {
        let mut contech = self.command(self.path("contech"));
        contech.args(line.split_whitespace());
        contech
    }

    /// `contech-backend` with the words of `line`.
    pub(crate) fn backend(&self, line: &str) -> Command {
        let mut backend = self.command(BACKEND);
        backend.args(line.split_whitespace());
        backend
    }

    pub(crate) fn run(&self, line: &str) -> Output {
        self.backend(line).output().unwrap()
    }

    /// Standard output of a run that succeeds silently.
    pub(crate) fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
        out(&output)
    }

    pub(crate) fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.ok(line)).unwrap()
    }

    /// The message of a run that fails with exit status 1 and prints nothing else.
    pub(crate) fn fails(&self, line: &str) -> String {
        Self::failed(line, &self.run(line))
    }

    /// The same where a file can have so many blocks, as on a full disk.
    pub(crate) fn full(&self, blocks: u32, line: &str) -> String {
        let mut shell = self.command("sh");
        let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        shell.args(["-c", &limited, "sh", BACKEND]);
        Self::failed(line, &shell.args(line.split_whitespace()).output().unwrap())
    }

    #[track_caller]
    fn failed(line: &str, output: &Output) -> String {
        assert_eq!(output.status.code(), Some(1), "{line}: {output:?}");
        assert!(output.stdout.is_empty(), "{line}: {output:?}");
        let message = err(output);
        assert!(message.starts_with("contech-backend: "), "{message}");
        message
    }
}

/// What a command printed.
pub(crate) fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What it said.
pub(crate) fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Copies a file to be started.
fn install(from: &Path, to: &Path) {
    let mut install = Command::new("install");
    install.args(["-m", "755"]).arg(from).arg(to);
    assert!(install.status().unwrap().success(), "{}", to.display());
}
