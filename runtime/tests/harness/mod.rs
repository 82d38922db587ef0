//! Compiles the test programs against the library just built, runs them, reads their traces.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::rc::Rc;

use contech_tests::outputs::home;
use contech_trace::abi::ABI_VERSION;
use contech_trace::event::{Event, SyncOp};
use contech_trace::fast::{Decoder, Sink};
use contech_trace::file::{ChunkKind, ModuleLoad, Totals};
use contech_trace::program::Program as Static;
use contech_trace::reader::{ChunkReader, Next};
use contech_trace::table::{Block, Function, ModuleTable};
use tempfile::TempDir;

/// A compiled program in a folder of its own.
pub(crate) struct Program {
    folder: Rc<TempDir>,
}

fn compile(arguments: &[&str]) {
    // Cargo does not build a shared library for the tests of its package.
    let library = home().to_str().expect("a path in UTF-8");
    let output = Command::new("clang-22")
        .args(["-O1", "-g", "-Wall"])
        .args(arguments)
        .args([
            &format!("-L{library}"),
            &format!("-Wl,-rpath,{library}"),
            "-Wl,--no-as-needed",
            "-lcontech_rt",
        ])
        .output()
        .expect("clang-22");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
}

impl Program {
    /// Compiles a program of `programs/`.
    pub(crate) fn new(source: &str) -> Self {
        Self::build(source, None)
    }

    /// Compiles a program, and a library from the same source with one more flag.
    pub(crate) fn with_library(source: &str, flag: &str) -> Self {
        Self::build(source, Some(flag))
    }

    fn build(source: &str, library: Option<&str>) -> Self {
        let folder = TempDir::new().expect("a folder");
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
        fs::write(folder.path().join("table.h"), header).expect("table.h");
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        let text = |path: PathBuf| path.to_str().expect("a path in UTF-8").to_owned();
        let include = format!("-I{}", folder.path().display());
        let source = text(sources.join(source));
        let program = text(folder.path().join("program"));
        let shared = text(folder.path().join("libplain.so"));
        let run_path = format!("-Wl,-rpath,{}", folder.path().display());
        let mut arguments = vec![include.as_str(), &source, "-o", &program, &run_path];
        if let Some(flag) = library {
            compile(&["-fPIC", "-shared", flag, &source, "-o", &shared]);
            arguments.push(&shared);
        }
        compile(&arguments);
        Program { folder: Rc::new(folder) }
    }

    /// Runs it with arguments and variables.
    pub(crate) fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
        self.run_by("exec", arguments, variables)
    }

    /// Runs it by a shell command that the program's path and arguments follow.
    pub(crate) fn run_by(
        &self,
        shell: &str,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Run {
        let output = Command::new("sh")
            .arg("-c")
            .arg(format!("{shell} ./program \"$@\""))
            .arg("sh")
            .args(arguments)
            .envs(variables.iter().copied())
            .current_dir(self.folder.path())
            .output()
            .expect("a shell");
        Run {
            folder: Rc::clone(&self.folder),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            status: output.status,
        }
    }
}

/// A finished run and its files.
pub(crate) struct Run {
    folder: Rc<TempDir>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) status: ExitStatus,
}

impl Run {
    /// Exit code, `None` for a signal.
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// A file the run left.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect(name)
    }

    /// Reads a trace; every chunk and record of it must be as the format says.
    pub(crate) fn trace(&self, name: &str) -> Trace {
        let bytes = fs::File::open(self.path(name)).expect(name);
        let (_, mut reader) = ChunkReader::new(std::io::BufReader::new(bytes))
            .expect("the file")
            .expect("its header");
        let mut program = Static::default();
        let mut decoders = std::collections::HashMap::<u32, Decoder>::new();
        let mut trace = Trace::default();
        loop {
            let chunk = match reader.next_chunk().expect("the file") {
                Next::Chunk(chunk) => chunk,
                Next::Skipped { .. } => {
                    trace.damaged = true;
                    continue;
                }
                Next::End => return trace,
            };
            trace.last = None;
            match chunk.header.kind {
                ChunkKind::Module => {
                    let load = ModuleLoad::from_bytes(&chunk.stored).expect("a module");
                    let mut table = ModuleTable::decode(&load.table).expect("its table");
                    program
                        .add(load.id_base, load.id_count, &mut table, &load.globals, None)
                        .expect("its ids");
                }
                ChunkKind::Stream => decoders
                    .entry(chunk.header.context)
                    .or_default()
                    .chunk(chunk.payload(&mut Vec::new()).expect("a payload"), &program, &mut trace)
                    .expect("records"),
                ChunkKind::End => trace.last = Totals::from_bytes(&chunk.stored).ok(),
                ChunkKind::Run | ChunkKind::Check | ChunkKind::Rank => {}
            }
        }
    }
}

/// What a trace holds.
#[derive(Default)]
pub(crate) struct Trace {
    pub(crate) blocks: u64,
    pub(crate) events: Vec<Event>,
    pub(crate) damaged: bool,
    /// Totals, if they are the last chunk.
    last: Option<Totals>,
}

impl Trace {
    /// The file is whole and says that everything was recorded.
    pub(crate) fn complete(&self) -> bool {
        !self.damaged && self.last.as_ref().is_some_and(|t| t.complete)
    }

    /// Operations of the sync events, in order.
    pub(crate) fn syncs(&self) -> Vec<SyncOp> {
        let op = |e: &Event| match e {
            Event::Sync { op, .. } | Event::Untimed { op, .. } => Some(*op),
            _ => None,
        };
        self.events.iter().filter_map(op).collect()
    }
}

impl Sink for Trace {
    fn block(&mut self, _: u32, _: &[u64]) {
        self.blocks += 1;
    }

    fn event(&mut self, event: Event) {
        self.events.push(event);
    }
}
