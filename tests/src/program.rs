//! A test program and the expectations written in its comments.
//!
//! | directive | meaning |
//! |---|---|
//! | `MODE: golden` | the graph equals `graphs/NAME.txt` |
//! | `MODE: verify` | the graph is well formed; only what other directives say is compared |
//! | `MODE: incomplete` | the trace is cut: the middle recovers what there is (exit 3) |
//! | `EXPECT: exit N` or `signal N` | wait status; default `exit 0` |
//! | `LEVELS: O0 O2` | optimisation levels; default `O0 O2` |
//! | `FLAGS: ...` | compiler flags |
//! | `ARGS: ...` | arguments of the program |
//! | `ENV: NAME=VALUE` | environment of the recorded run |
//! | `WITH: FILE` | a second instrumented source |
//! | `NATIVE: FILE` | a source compiled without instrumentation |
//! | `ARCHIVE:`, `SHARED:`, `PLUGIN: FILE` | an instrumented static archive, shared library, library to dlopen |
//! | `TRACES: N` | number of traces the run leaves (default 1) |
//! | `REPEAT: N` | recorded runs, each checked |
//! | `THREADS: N ...` | runs with these values of `OMP_NUM_THREADS`, native and recorded, each checked; the explicit OpenMP tasks must be the same in all |
//! | `TASKS: N` | explicit OpenMP tasks; each is waited for once |
//! | `DEPENDS: N` | stored edges from explicit tasks to those that depend on them |
//! | `COUNT: NAME N` | tasks of that operation, over all traces |
//! | `EDGE: FROM -> TO N` | stored edges between tasks of these operations |
//! | `NOTE: TEXT` | a note of the graph says this |
//! | `CHECK: accesses`, `bytes`, `allocations`, `executors`, `log-order`, `turns` | standard output says what the graph must hold |
//! | `NEEDS: FEATURE` | run only where `/proc/cpuinfo` has it; compiled and linked anyway |

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::scratch::entries;

const MODES: [&str; 3] = ["golden", "verify", "incomplete"];

/// What standard output can be compared with, in addition to the native run's output.
const CHECKS: [&str; 6] = ["accesses", "bytes", "allocations", "executors", "log-order", "turns"];

/// A program file with its directives, which the table above explains.
#[derive(Debug, Clone, Default)]
pub struct Program {
    pub name: String,
    pub source: PathBuf,
    pub mode: String,
    pub expect: String,
    pub levels: Vec<String>,
    pub flags: Vec<String>,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub with: Vec<PathBuf>,
    pub native: Vec<PathBuf>,
    pub archive: Vec<PathBuf>,
    pub shared: Vec<PathBuf>,
    pub plugin: Vec<PathBuf>,
    pub traces: usize,
    pub repeat: usize,
    pub threads: Vec<u32>,
    pub tasks: Option<u64>,
    pub depends: u64,
    pub counts: Vec<(String, u64)>,
    pub edges: Vec<(String, String, u64)>,
    pub notes: Vec<String>,
    pub check: Option<String>,
    pub needs: Option<String>,
}

impl Program {
    /// Reads a program file; `None` for a part of another program.
    ///
    /// # Errors
    /// On a directive that is not in the table, since a misspelt expectation must not pass.
    pub fn read(source: &Path) -> Result<Option<Self>> {
        let text = fs::read_to_string(source).with_context(|| source.display().to_string())?;
        if text
            .lines()
            .filter_map(comment)
            .any(|l| l.starts_with("PART of ") || l.starts_with("NATIVE ("))
        {
            return Ok(None);
        }
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut program = Self {
            name,
            source: source.to_owned(),
            expect: "exit 0".to_owned(),
            levels: ["O0", "O2"].map(str::to_owned).to_vec(),
            traces: 1,
            repeat: 1,
            ..Self::default()
        };
        for (key, value) in text.lines().filter_map(directive) {
            program.apply(key, value).with_context(|| source.display().to_string())?;
        }
        ensure!(!program.mode.is_empty(), "{}: no MODE", source.display());
        Ok(Some(program))
    }

    fn apply(&mut self, key: &str, value: &str) -> Result<()> {
        let words = || value.split_whitespace().map(str::to_owned);
        let file = || self.source.with_file_name(value);
        match key {
            "MODE" if MODES.contains(&value) => value.clone_into(&mut self.mode),
            "MODE" => bail!("unknown MODE {value}"),
            "EXPECT" => value.clone_into(&mut self.expect),
            "LEVELS" => self.levels = words().collect(),
            "FLAGS" => self.flags.extend(words()),
            "ARGS" => self.args.extend(words()),
            "ENV" => {
                let (name, v) = value.split_once('=').context("ENV: NAME=VALUE")?;
                self.env.push((name.to_owned(), v.to_owned()));
            }
            "WITH" => self.with.push(file()),
            "NATIVE" => self.native.push(file()),
            "ARCHIVE" => self.archive.push(file()),
            "SHARED" => self.shared.push(file()),
            "PLUGIN" => self.plugin.push(file()),
            "TRACES" => self.traces = value.parse()?,
            "THREADS" => {
                self.threads = words().map(|w| w.parse()).collect::<Result<_, _>>()?;
            }
            "TASKS" => self.tasks = Some(value.parse()?),
            "DEPENDS" => self.depends = value.parse()?,
            "REPEAT" => self.repeat = value.parse()?,
            "COUNT" => {
                let (name, n) = value.split_once(' ').context("COUNT: NAME N")?;
                self.counts.push((name.to_owned(), n.trim().parse()?));
            }
            "EDGE" => {
                let words: Vec<_> = words().collect();
                let [from, arrow, to, n] = words.as_slice() else { bail!("EDGE: FROM -> TO N") };
                if arrow != "->" {
                    bail!("EDGE: FROM -> TO N");
                }
                self.edges.push((from.clone(), to.clone(), n.parse()?));
            }
            "NOTE" => self.notes.push(value.to_owned()),
            "CHECK" if CHECKS.contains(&value) => self.check = Some(value.to_owned()),
            "CHECK" => bail!("unknown CHECK {value}"),
            // This is what Rust's comments at unsafe code begin with.
            "SAFETY" => {}
            "NEEDS" => self.needs = Some(value.to_owned()),
            other => bail!("unknown directive {other}"),
        }
        Ok(())
    }

    /// Whether this machine's processor can run the program.
    #[must_use]
    pub fn can_run(&self) -> bool {
        let Some(feature) = &self.needs else {
            return true;
        };
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        info.lines().any(|l| l.starts_with("flags") && l.split_whitespace().any(|f| f == feature))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
    Fortran,
}

impl Language {
    /// The language of a file by its extension; C by default.
    #[must_use]
    pub fn of(source: &Path) -> Self {
        match source.extension().and_then(|e| e.to_str()) {
            Some("cpp" | "cc") => Self::Cxx,
            Some("f90" | "F90" | "f") => Self::Fortran,
            _ => Self::C,
        }
    }
}

#[must_use]
pub fn is_cxx(source: &Path) -> bool {
    Language::of(source) == Language::Cxx
}

/// The text of a line that is a comment in C or in Fortran.
fn comment(line: &str) -> Option<&str> {
    line.strip_prefix("// ").or_else(|| line.strip_prefix("! "))
}

/// What a program says of an access: whether it writes, the address, and how many bytes or times.
pub type Said = (bool, u64, u64);

/// Parses `R|W address number`.
///
/// # Errors
/// When the text is something else.
pub fn said(text: &str) -> Result<Said> {
    let bad = || format!("not `R|W ADDRESS NUMBER`: {text}");
    let words: Vec<_> = text.split(' ').collect();
    let [kind, address, number] = words[..] else { bail!(bad()) };
    let address = address.strip_prefix("0x").unwrap_or(address);
    let address = u64::from_str_radix(address, 16).with_context(bad)?;
    Ok((kind == "W", address, number.parse().with_context(bad)?))
}

/// Parses `// KEY: value`, or in Fortran `! KEY: value`, where the key is in capital letters.
fn directive(line: &str) -> Option<(&str, &str)> {
    let (key, value) = comment(line)?.split_once(": ")?;
    let is_key = key.len() > 2 && key.bytes().all(|b| b.is_ascii_uppercase());
    is_key.then_some((key, value.trim()))
}

/// All programs of a directory, sorted by name.
///
/// # Errors
/// When a file cannot be read or has an unknown directive.
pub fn all(dir: &Path) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for path in entries(dir).with_context(|| dir.display().to_string())? {
        let extension = path.extension().and_then(|e| e.to_str());
        if matches!(extension, Some("c" | "cpp" | "f90" | "F90" | "f")) {
            programs.extend(Program::read(&path)?);
        }
    }
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(programs)
}
