//! Compiles the test programs against the library just built, runs them, reads their traces.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use contech_tests::outputs::{home, tool};
use contech_tests::process::{Finished, run};
use contech_tests::toolchain::Toolchain;
use contech_trace::abi::ABI_VERSION;
use contech_trace::table::{Block, Function, ModuleTable};
use tempfile::TempDir;

/// A compiled program in a folder of its own, where it leaves its files.
pub(crate) struct Program {
    folder: TempDir,
}

impl Program {
    /// Compiles a program of `programs/`.
    pub(crate) fn new(source: &str) -> Self {
        let program = Self::with_header();
        program.compile(source, &[], "program");
        program
    }

    /// Compiles a program, and a library from the same source with one more flag.
    pub(crate) fn with_library(source: &str, flag: &str) -> Self {
        let program = Self::with_header();
        program.compile(source, &["-fPIC", "-shared", flag], "libplain.so");
        program.compile(source, &["-L.", "-lplain", "-Wl,-rpath,."], "program");
        program
    }

    /// A folder with the header that the programs share.
    fn with_header() -> Self {
        let table = ModuleTable {
            functions: vec![Function::default()],
            blocks: vec![Block::default(); 8],
            ..ModuleTable::default()
        };
        let bytes: Vec<String> = table.encode().iter().map(u8::to_string).collect();
        let header = format!(
            "#define ABI {ABI_VERSION}\nstatic const unsigned char table[] = {{{}}};\n",
            bytes.join(",")
        );
        let program = Program { folder: TempDir::new().expect("a folder") };
        fs::write(program.path("table.h"), header).expect("table.h");
        program
    }

    fn compile(&self, source: &str, flags: &[&str], to: &str) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
        let mut command = Command::new(Toolchain::native().cc);
        command.current_dir(self.folder.path()).args(["-O1", "-g", "-Wall", "-I."]);
        command.arg(source).args(flags);
        // Cargo does not build a shared library for the tests of its package.
        let library = home().display();
        command.arg(format!("-L{library}")).arg(format!("-Wl,-rpath,{library}"));
        command.args(["-Wl,--no-as-needed", "-lcontech_rt", "-o", to]);
        run(&mut command).and_then(Finished::ok).expect("clang");
    }

    /// Runs it with arguments and variables.
    pub(crate) fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Finished {
        self.run_by("exec", arguments, variables)
    }

    /// Runs it by a shell command that the program's path and arguments follow.
    pub(crate) fn run_by(
        &self,
        shell: &str,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Finished {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("{shell} ./program \"$@\"")).arg("sh").args(arguments);
        command.envs(variables.iter().copied()).current_dir(self.folder.path());
        run(&mut command).expect("a shell")
    }

    /// A file that runs leave.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect(name)
    }

    /// Reads a trace; every record of it must be as the format says.
    pub(crate) fn trace(&self, name: &str) -> Trace {
        let mut dump = tool("contech-middle");
        let done = run(dump.arg("--dump-trace").arg(self.path(name))).and_then(Finished::ok);
        let text = done.expect(name).out();
        assert!(!text.contains("unreadable"), "{text}");
        Trace(text)
    }
}

/// The text form of a trace.
pub(crate) struct Trace(String);

impl Trace {
    /// Number of block executions.
    pub(crate) fn blocks(&self) -> usize {
        let what = |line: &str| line.split(' ').nth(1) == Some("block");
        self.0.lines().filter(|line| what(line)).count()
    }

    /// Whether bytes of the file belong to no whole chunk.
    pub(crate) fn damaged(&self) -> bool {
        self.0.contains("\nskipped ")
    }

    /// The file is whole and says that everything was recorded.
    pub(crate) fn complete(&self) -> bool {
        let last = self.0.lines().rev().nth(1).unwrap_or_default();
        !self.damaged() && last.starts_with("end complete true ")
    }

    /// Name and ticket of each synchronisation, and the time before it if that is known, in order.
    pub(crate) fn syncs(&self) -> Vec<(&str, u64, Option<u64>)> {
        let sync = |line| {
            let (_, rest) = str::split_once(line, " sync ")?;
            let words: Vec<&str> = rest.split(' ').collect();
            let after = |word| {
                let at = words.iter().position(|w| *w == word)?;
                words.get(at + 1)?.parse().ok()
            };
            Some((words[0], after("ticket")?, after("at")))
        };
        self.0.lines().filter_map(sync).collect()
    }
}
