//! `shard`: one analysis by several processes, on one machine or on many. `plan` writes down what
//! is to be done, `run` does one share of it, and `merge` makes the result, which is byte for byte
//! that of one process. `FORMAT.md` beside this crate's sources describes the files.

use std::fs;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{ArgMatches, FromArgMatches};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

use super::division::Division;
use super::registry;
use crate::analysis::{self, Graph, Share};
use crate::output;

/// What begins each result of a share.
const MAGIC: &[u8; 8] = b"CTSHARE\0";
const VERSION: u32 = 2;
/// Bytes before the body: magic, version, number of the share, hash of the plan, length of the
/// body.
const HEADER: usize = 8 + 4 + 4 + 16 + 8;
const PLAN: &str = "plan.json";

/// Options of `shard`.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub(super) struct Options {
    #[command(subcommand)]
    step: ShardCommand,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum ShardCommand {
    /// Writes FOLDER/plan.json: which analysis of which graph, by how many workers
    Plan {
        /// Folder for the plan and for what the workers find; every worker must reach it
        folder: PathBuf,
        /// Number of workers
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
        workers: u32,
        /// Task graph, as written by contech-middle
        #[arg(long, default_value = analysis::DEFAULT_GRAPH)]
        graph: PathBuf,
        /// The analysis: cache or workspan
        #[arg(value_name = "ANALYSIS")]
        name: String,
        /// Its options
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Does one share and writes what was found to FOLDER/K.share; done twice, it is done once
    Run {
        /// Folder with the plan
        folder: PathBuf,
        /// Number of the share, from 1 on
        share: u32,
    },
    /// Prints the result as JSON, when all shares are done
    Merge {
        /// Folder with the plan
        folder: PathBuf,
        /// Write to FILE instead of standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// What is to be done.
#[derive(Debug, Serialize, Deserialize)]
struct Plan {
    /// Version of the files and of the tools.
    format: u32,
    tools: String,
    /// The graph and a hash of its bytes.
    graph: PathBuf,
    hash: String,
    analysis: String,
    options: Vec<String>,
    workers: u32,
}

/// Does a step.
///
/// # Errors
/// When a file is missing or is not what the plan asks for.
pub(super) fn run(matches: &ArgMatches) -> Result<()> {
    match Options::from_arg_matches(matches)?.step {
        ShardCommand::Plan { folder, workers, graph, name, options } => {
            let graph = fs::canonicalize(&graph)
                .with_context(|| format!("cannot find the graph {}", graph.display()))?;
            let plan = Plan {
                format: VERSION,
                tools: env!("CARGO_PKG_VERSION").to_owned(),
                hash: hash_of(&graph)?,
                graph,
                analysis: name,
                options,
                workers,
            };
            // What is wrong with the plan is said now, and not by each worker.
            plan.division()?;
            fs::create_dir_all(&folder)
                .with_context(|| format!("cannot make the folder {}", folder.display()))?;
            let text = serde_json::to_string_pretty(&plan)?;
            output::to(Some(&folder.join(PLAN)), |out| Ok(writeln!(out, "{text}")?))
        }
        ShardCommand::Run { folder, share } => Planned::read(&folder)?.run(share),
        ShardCommand::Merge { folder, output } => {
            let text = Planned::read(&folder)?.merge()?;
            output::to(output.as_deref(), |out| Ok(writeln!(out, "{text}")?))
        }
    }
}

fn hash_of(graph: &Path) -> Result<String> {
    let read = || -> std::io::Result<u128> {
        let (mut hash, mut file) = (Xxh3::new(), fs::File::open(graph)?);
        let mut bytes = vec![0; 1 << 20];
        loop {
            match file.read(&mut bytes)? {
                0 => break Ok(hash.digest128()),
                n => hash.update(&bytes[..n]),
            }
        }
    };
    let hash = read().with_context(|| format!("cannot read {}", graph.display()))?;
    Ok(format!("{hash:032x}"))
}

impl Plan {
    fn division(&self) -> Result<(Division, ArgMatches)> {
        registry::division(&self.analysis, &self.options)
    }
}

/// A plan in its folder.
struct Planned {
    folder: PathBuf,
    plan: Plan,
    /// Hash of the plan's file, which every result has.
    hash: u128,
}

impl Planned {
    fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(PLAN);
        let text = fs::read(&path)
            .with_context(|| format!("cannot read {}: make it with shard plan", path.display()))?;
        let plan: Plan = serde_json::from_slice(&text)
            .with_context(|| format!("{} is not a plan: make it again", path.display()))?;
        let (made, own) = (&plan.tools, env!("CARGO_PKG_VERSION"));
        ensure!(
            plan.format == VERSION && made == own,
            "{} was made by contech-backend {made}, and this is {own}: let all workers have one version",
            path.display()
        );
        Ok(Self { folder: folder.to_owned(), hash: xxh3_128(&text), plan })
    }

    fn open(&self) -> Result<Graph> {
        let path = &self.plan.graph;
        ensure!(
            hash_of(path)? == self.plan.hash,
            "{} is not the graph that the plan was made for: plan again, or copy that graph here",
            path.display()
        );
        analysis::open(path)
    }

    fn path(&self, number: u32) -> PathBuf {
        self.folder.join(format!("{number}.share"))
    }

    fn run(&self, number: u32) -> Result<()> {
        let workers = self.plan.workers;
        ensure!(
            (1..=workers).contains(&number),
            "there is no share {number}: the plan has 1 to {workers}"
        );
        if self.result(number).is_ok() {
            return Ok(());
        }
        let (division, matches) = self.plan.division()?;
        let share = Share { index: number - 1, of: workers };
        let found = (division.run)(&matches, &self.open()?, share)?;
        let mut bytes = self.header(number, found.len());
        bytes.extend(found);
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        output::bytes_to(Some(&self.path(number)), |out| Ok(out.write_all(&bytes)?))
    }

    /// What is before the body of a share's result, which has so many bytes.
    fn header(&self, number: u32, length: usize) -> Vec<u8> {
        let (version, number) = (VERSION.to_le_bytes(), number.to_le_bytes());
        let (plan, length) = (self.hash.to_le_bytes(), (length as u64).to_le_bytes());
        [&MAGIC[..], &version, &number, &plan, &length].concat()
    }

    /// What a worker found.
    fn result(&self, number: u32) -> Result<Vec<u8>> {
        let path = self.path(number);
        let name = path.display();
        let bytes = fs::read(&path).with_context(|| {
            let folder = self.folder.display();
            format!(
                "share {number} is missing ({name}): contech-backend shard run {folder} {number}"
            )
        })?;
        let end = bytes.len().saturating_sub(8);
        let header = self.header(number, end.saturating_sub(HEADER));
        let has = |field: Range<usize>| bytes.get(field.clone()) == Some(&header[field]);
        ensure!(
            has(0..12),
            "{name} is not the result of a share of this version: delete it, and run the share again"
        );
        ensure!(
            has(12..32),
            "{name} is of another plan or another share: delete it, and run the share again"
        );
        let whole = has(32..HEADER) && end >= HEADER;
        ensure!(
            whole && bytes[end..] == xxh3_64(&bytes[..end]).to_le_bytes(),
            "{name} is damaged: delete it, and run the share again"
        );
        Ok(bytes[HEADER..end].to_vec())
    }

    fn merge(&self) -> Result<String> {
        let parts = (1..=self.plan.workers).map(|number| self.result(number));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let (division, matches) = self.plan.division()?;
        (division.merge)(&matches, &self.open()?, &parts)
    }
}
