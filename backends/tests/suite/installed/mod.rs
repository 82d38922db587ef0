//! A folder with `contech` and the programs a test starts with it.
//!
//! Another process writes what is to be started: a file that this one has open for writing is open
//! in every process that another test forks meanwhile, until that one executes something, and
//! cannot be started ("text file busy").

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The folder; removed at the end.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// With `contech` in it.
    pub(crate) fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        install(env!("CARGO_BIN_EXE_contech").as_ref(), &folder.path("contech"));
        folder
    }

    /// A file in it.
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

    /// `contech COMMAND`, in the folder and without input.
    pub(crate) fn contech(&self, command: &str) -> Command {
        let mut contech = Command::new(self.path("contech"));
        contech.arg(command).current_dir(self.0.path());
        // A sentence is one line then.
        contech.env("COLUMNS", "10000");
        contech.stdin(Stdio::null());
        contech
    }
}

/// Copies a file to be started.
fn install(from: &Path, to: &Path) {
    let mut install = Command::new("install");
    install.args(["-m", "755"]).arg(from).arg(to);
    assert!(install.status().unwrap().success(), "{}", to.display());
}
