//! The command line of `contech scale`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::duration::duration;
use crate::output::Destination;
use crate::scaling::{Blocking, Estimate};

/// Options of `contech scale`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Numbers of threads; {threads} in the command stands for them, and OMP_NUM_THREADS is set to
    /// them
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', default_value = "1,2",
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Vec<u32>,
    /// The sequential program speedups are against: T_s. Words are split as a shell does, nothing
    /// is expanded
    #[arg(long, value_name = "COMMAND")]
    pub baseline: Option<String>,
    /// The parallel program with its parallel constructs left out: what scheduling costs one
    /// processor
    #[arg(long, value_name = "COMMAND")]
    pub elision: Option<String>,
    /// Runs of each command at each number of threads, taken in turn
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Which number stands for the runs
    #[arg(long, value_enum, default_value_t)]
    pub estimate: Estimate,
    /// Where threads that block for a lock are counted
    #[arg(long, value_enum, default_value_t)]
    pub blocking: Blocking,
    /// Shortest run that is a measurement
    #[arg(long, value_name = "TIME", default_value = "50ms", value_parser = duration)]
    pub min_time: Duration,
    /// A run that takes longer is ended, and nothing is measured
    #[arg(long, value_name = "TIME", default_value = "600s", value_parser = duration)]
    pub timeout: Duration,
    /// The program's output may differ from run to run
    #[arg(long)]
    pub ignore_output: bool,
    /// The exit status of the program when all is well; with any other, it is not measured
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub status: u8,
    /// Leave threads on all processors instead of as many as there are threads
    #[arg(long)]
    pub no_pin: bool,
    /// Keep the measurement in FILE (JSON)
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Analyse the measurement in FILE instead of taking one
    #[arg(long, value_name = "FILE", conflicts_with_all = ["baseline", "elision", "save"])]
    pub from: Option<PathBuf>,
    /// Where the result goes.
    #[command(flatten)]
    pub to: Destination,
    /// Write the page with the plots to FILE
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// The parallel program and its arguments. {threads} is the number of threads; {p} the same,
    /// but in one-processor runs as well, for work that depends on it
    #[arg(
        required_unless_present = "from",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    pub program: Vec<OsString>,
}
