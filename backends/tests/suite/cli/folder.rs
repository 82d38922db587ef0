//! A folder with a graph, where the command runs.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::samples::{two, write};

/// A folder with the graph of [`two`].
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        write(two(), &folder.path("two.tg"));
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs `contech-backend` with the words of `line`, in the folder.
    pub(crate) fn run(&self, line: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_contech-backend"));
        command
            .current_dir(self.0.path())
            .args(line.split_whitespace())
            // A sentence is one line then.
            .env("COLUMNS", "10000")
            .stdin(Stdio::null());
        command.output().unwrap()
    }

    /// Standard output of a run that succeeds silently.
    pub(crate) fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The message of a run that fails with exit status 1 and prints nothing else.
    pub(crate) fn fails(&self, line: &str) -> String {
        Self::failed(line, &self.run(line))
    }

    /// The same where no file can grow, as on a full disk.
    pub(crate) fn full(&self, line: &str) -> String {
        let mut shell = Command::new("sh");
        shell.args(["-c", r#"trap "" XFSZ; ulimit -f 0; exec "$@""#, "sh"]);
        shell.arg(env!("CARGO_BIN_EXE_contech-backend"));
        shell.args(line.split_whitespace()).current_dir(self.0.path());
        Self::failed(line, &shell.output().unwrap())
    }

    #[track_caller]
    fn failed(line: &str, output: &Output) -> String {
        assert_eq!(output.status.code(), Some(1), "{line}: {output:?}");
        assert!(output.stdout.is_empty(), "{line}: {output:?}");
        let message = String::from_utf8(output.stderr.clone()).unwrap();
        assert!(message.starts_with("contech-backend: "), "{message}");
        message
    }

    pub(crate) fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.ok(line)).unwrap()
    }
}
