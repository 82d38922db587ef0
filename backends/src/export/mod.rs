//! `export`: the graph in forms that other programs read. Each form is a file of this folder and an
//! entry of `forms`; the profile, of which several forms are views, is made once for all that are
//! asked for.

mod callgrind;
mod champsim;
mod folded;
mod lanes;
mod otf2;
mod parquet;
mod perfetto;
mod profile;

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{ArgMatches, FromArgMatches};

use crate::analysis::{self, Graph, default_config, run as run_analysis, something_to_analyse};
use crate::cli::open;
use crate::output;
use crate::size::Sizes;
use crate::tables::{ACCESSES, TABLES};
use crate::workspan::{self, WorkSpan};
use profile::{Profile, Profiler};

use folded::Weight;

/// Options of `export`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Task graph, as written by contech-middle
    #[arg(value_name = "GRAPH", default_value = analysis::DEFAULT_GRAPH)]
    graph: PathBuf,
    /// Timeline for ui.perfetto.dev: contexts as tracks, tasks and waits as slices, dependences as
    /// flows
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
    /// Stacks for flame graphs
    #[arg(long, value_name = "FILE")]
    folded: Option<PathBuf>,
    /// What the numbers of --folded are
    #[arg(long, value_enum, default_value_t, requires = "folded")]
    weight: Weight,
    /// Profile for KCachegrind and callgrind_annotate
    #[arg(long, value_name = "FILE")]
    callgrind: Option<PathBuf>,
    /// Sizes of the caches whose misses a profile has: one shared cache each, fully associative
    #[arg(long, value_name = "SIZES", default_value = "32K,8M")]
    sizes: Sizes,
    /// Tables for DuckDB, Polars and pandas, into a folder that is new or empty
    #[arg(long, value_name = "DIR")]
    parquet: Option<PathBuf>,
    /// With --parquet, every memory access, too
    #[arg(long, requires = "parquet")]
    accesses: bool,
    /// Say what the tables of --parquet hold, and do nothing else
    #[arg(long)]
    columns: bool,
    /// OTF2 archive for Vampir, Scalasca and otf2-print, into a folder that is new or empty
    #[arg(long, value_name = "DIR")]
    otf2: Option<PathBuf>,
    /// Traces of instructions for ChampSim, one of each thread, into a folder that is new or empty
    #[arg(long, value_name = "DIR")]
    champsim: Option<PathBuf>,
}

/// Writes a form to a file or a folder.
type Write = fn(&Path, &Graph, &Options, Option<&Profile>) -> Result<()>;

/// The forms: the option, where the form goes if it is asked for, and how it is written.
fn forms(options: &Options) -> [(&'static str, &Option<PathBuf>, Write); 6] {
    [
        ("--perfetto", &options.perfetto, |file, graph, _, _| {
            output::bytes_to(Some(file), |out| perfetto::write(out, graph))
        }),
        ("--folded", &options.folded, |file, graph, options, profile| {
            if options.weight == Weight::Span {
                let config = workspan::Options { whole: true, ..default_config::<WorkSpan>()? };
                let span = run_analysis::<WorkSpan>(config, graph)?;
                return output::to(Some(file), |out| folded::write_span(out, graph, &span));
            }
            let profile = profile.context("no profile was made")?;
            output::to(Some(file), |out| folded::write(out, graph, profile, options.weight))
        }),
        ("--callgrind", &options.callgrind, |file, graph, _, profile| {
            let profile = profile.context("no profile was made")?;
            output::to(Some(file), |out| callgrind::write(out, graph, profile))
        }),
        ("--parquet", &options.parquet, |folder, graph, options, _| {
            parquet::write(folder, graph, options.accesses)
        }),
        ("--otf2", &options.otf2, |folder, graph, _, _| {
            output::folder(folder, |inside| otf2::write(inside, graph))
        }),
        ("--champsim", &options.champsim, |folder, graph, _, _| {
            something_to_analyse(graph, "--champsim")?;
            output::folder(folder, |inside| champsim::write(inside, graph))
        }),
    ]
}

/// The profile, if a form that is asked for is a view of it.
fn profile(options: &Options, graph: &Graph) -> Result<Option<Profile>> {
    let weight = options.folded.is_some().then_some(options.weight);
    let (misses, lines) = (weight == Some(Weight::Misses), options.callgrind.is_some());
    if misses {
        something_to_analyse(graph, "--weight misses")?;
    }
    if !lines && matches!(weight, None | Some(Weight::Span)) {
        return Ok(None);
    }
    let sizes = (misses || lines).then(|| options.sizes.clone());
    run_analysis::<Profiler<'_>>(profile::Config { graph, sizes }, graph).map(Some)
}

/// Writes what the columns of the tables hold.
fn columns(out: &mut dyn io::Write) -> Result<()> {
    for table in TABLES.into_iter().chain([&ACCESSES]) {
        writeln!(out, "{}: {}", table.name, table.about)?;
        for column in table.columns {
            let (name, kind) = (column.name, column.kind.sql());
            writeln!(out, "  {name:<18} {kind:<8} {}", column.about)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Runs the subcommand.
pub(crate) fn run(matches: &ArgMatches) -> Result<()> {
    let options = Options::from_arg_matches(matches)?;
    if options.columns {
        return output::to(None, |out| columns(out));
    }
    let forms = forms(&options);
    let wanted = forms.iter().filter_map(|(option, place, write)| {
        let place = place.as_deref()?;
        Some((place, *option, write))
    });
    let wanted: Vec<_> = wanted.collect();
    if wanted.is_empty() {
        let [first @ .., last] = forms.map(|form| form.0);
        bail!("say which form: {} or {last}", first.join(", "));
    }
    let mut files: Vec<(&Path, &str)> = wanted.iter().map(|form| (form.0, form.1)).collect();
    files.sort_by_key(|(file, _)| *file);
    if let Some([(file, one), (_, other)]) = files.array_windows().find(|[a, b]| a.0 == b.0) {
        bail!("{one} and {other} have the same file, {}", file.display());
    }
    let graph = open(&options.graph, usize::MAX)?;
    let profile = profile(&options, &graph)?;
    wanted.iter().try_for_each(|(place, _, write)| write(place, &graph, &options, profile.as_ref()))
}
