//! What the recorder is asked for: flags in place of the variables that it reads.

use std::ffi::{OsStr, OsString};

const SAMPLE: &str = "CONTECH_SAMPLE";
const LIMIT: &str = "CONTECH_LIMIT";
const ROI: &str = "CONTECH_ROI";
const BUFFER: &str = "CONTECH_BUFFER";
const MEMORY: &str = "CONTECH_MEMORY";
const STATS: &str = "CONTECH_STATS";
/// The variable that says where a program writes its trace.
pub(super) const TRACE: &str = "CONTECH_TRACE";

/// What a user of `--roi` calls the regions that the program marks.
const MARKS: &str = "marks";

/// How much is recorded. The recorder checks the values, and says what it does with a bad one.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Recording")]
pub(super) struct Recorder {
    /// Record accesses in one of N windows of a millisecond, chosen by chance
    #[arg(long, value_name = "1/N", env = SAMPLE, hide_env_values = true)]
    sample: Option<OsString>,
    /// How long the trace may become before accesses are left out: 4G, none or auto
    #[arg(long, value_name = "SIZE", env = LIMIT, hide_env_values = true)]
    limit: Option<OsString>,
    /// Record accesses only in the regions that the program marks (marks), or in a time of the run
    /// (time:2s-3s)
    #[arg(long, value_name = "REGION", env = ROI, hide_env_values = true)]
    roi: Option<OsString>,
    /// Buffer of each thread, 32K to 256M
    #[arg(long, value_name = "SIZE", env = BUFFER, hide_env_values = true)]
    buffer: Option<OsString>,
    /// How much may wait for the disk before the program is paused: a size, or a share of the
    /// memory like 90%
    #[arg(long, value_name = "SIZE", env = MEMORY, hide_env_values = true)]
    memory: Option<OsString>,
    /// File for the counts of what was recorded, as JSON
    #[arg(long, value_name = "FILE", env = STATS, hide_env_values = true)]
    stats: Option<OsString>,
}

impl Recorder {
    /// The variables of a program that writes its trace to `trace`.
    pub(super) fn variables(&self, trace: &OsStr) -> Vec<(&'static str, OsString)> {
        let roi = self.roi.as_ref().map(|roi| match roi == MARKS {
            true => OsString::from("1"),
            false => roi.clone(),
        });
        let all = [
            (TRACE, Some(trace.to_owned())),
            (SAMPLE, self.sample.clone()),
            (LIMIT, self.limit.clone()),
            (ROI, roi),
            (BUFFER, self.buffer.clone()),
            (MEMORY, self.memory.clone()),
            (STATS, self.stats.clone()),
        ];
        let given = all.into_iter();
        given.filter_map(|(name, value)| Some((name, value?))).collect()
    }
}
