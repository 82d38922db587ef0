//! Run-time options, from environment variables. A bad value causes one line on stderr and the
//! default.

use std::path::PathBuf;
use std::time::Duration;

use contech_plain::{duration, size};
use contech_trace::abi::SLACK;

use crate::target::Target;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The place that the trace goes to.
    pub target: Target,
    /// Bytes of each thread's buffer.
    pub buffer: usize,
    /// Bytes of full buffers that may wait for the writer before the program is paused.
    pub memory: u64,
    /// The program runs untraced.
    pub off: bool,
    /// The file for the statistics, if one is wanted.
    pub stats: Option<PathBuf>,
    /// How long the trace may become before accesses are left out; `None` for a default.
    pub limit: Option<u64>,
    /// Where accesses are recorded.
    pub region: Region,
    /// Accesses are recorded in one of so many windows of time.
    pub sample: u32,
}

/// The part of the run in which accesses are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Region {
    /// All of it.
    All,
    /// Between the marks that the program makes.
    Marked,
    /// From one time to another one after the start.
    Between(Duration, Duration),
}

impl Region {
    /// Reads `0`, `1` or `time:2s-3s`.
    fn parse(text: &str) -> Option<Self> {
        match text {
            "0" => Some(Region::All),
            "1" => Some(Region::Marked),
            _ => {
                let (from, to) = text.strip_prefix("time:")?.split_once('-')?;
                let (from, to) = (duration(from)?, duration(to)?);
                (from < to).then_some(Region::Between(from, to))
            }
        }
    }
}

/// Reads a time like `2s`, `1.5s`, `300ms` or `20us`; a number alone is seconds.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let seconds = || Duration::try_from_secs_f64(text.parse().ok()?).ok();
    duration::duration(text).ok().or_else(seconds)
}

/// The smallest buffer: twice the slack, so that at least half of it is used.
pub const MIN_BUFFER: u64 = 2 * SLACK as u64;
/// The largest buffer: a chunk holds one buffer.
pub const MAX_BUFFER: u64 = contech_trace::file::MAX_CHUNK as u64;

/// The smallest sample is one of so many windows.
const MOST_WINDOWS: u32 = 1000;

struct Spec {
    name: &'static str,
    default: &'static str,
    /// What the value should be.
    expected: &'static str,
    /// Sets the option to a value; `None` if it is not what it should be.
    set: fn(&mut Options, &str, u64) -> Option<()>,
}

const TABLE: &[Spec] = &[
    Spec {
        name: "CONTECH_TRACE",
        default: "trace.bin",
        expected: "a path, null, - or fd:NUMBER",
        set: |o, v, _| Target::parse(v).map(|target| o.target = target),
    },
    Spec {
        name: "CONTECH_BUFFER",
        default: "1M",
        expected: "a size from 32K to 256M",
        set: |o, v, _| {
            let bytes = size::parse(v).filter(|b| (MIN_BUFFER..=MAX_BUFFER).contains(b))?;
            usize::try_from(bytes).ok().map(|bytes| o.buffer = bytes)
        },
    },
    Spec {
        name: "CONTECH_MEMORY",
        default: "90%",
        expected: "a size or a share like 90%",
        set: |o, v, available| size::parse_share(v, available).map(|bytes| o.memory = bytes),
    },
    Spec {
        name: "CONTECH_OFF",
        default: "0",
        expected: "0 or 1",
        set: |o, v, _| matches!(v, "0" | "1").then(|| o.off = v == "1"),
    },
    Spec {
        name: "CONTECH_STATS",
        default: "",
        expected: "a path",
        set: |o, v, _| {
            o.stats = (!v.is_empty()).then(|| PathBuf::from(v));
            Some(())
        },
    },
    Spec {
        name: "CONTECH_ROI",
        default: "0",
        expected: "0, 1 or time:FROM-TO, like time:2s-3s (for a function, build with --contech-region=FUNCTION and set CONTECH_ROI=1)",
        set: |o, v, _| Region::parse(v).map(|region| o.region = region),
    },
    Spec {
        name: "CONTECH_SAMPLE",
        default: "1",
        expected: "1, or 1/2 to 1/1000",
        set: |o, v, _| {
            let windows = v.strip_prefix("1/").unwrap_or(if v == "1" { v } else { "" });
            let windows = windows.parse().ok().filter(|n| (1..=MOST_WINDOWS).contains(n));
            windows.map(|windows| o.sample = windows)
        },
    },
    Spec {
        name: "CONTECH_LIMIT",
        default: "auto",
        expected: "a size like 2G, none or auto",
        set: |o, v, _| {
            o.limit = match v {
                "auto" => None,
                "none" => Some(u64::MAX),
                _ => Some(size::parse(v)?),
            };
            Some(())
        },
    },
];

impl Options {
    /// Reads the options with `get` (the environment). Shares are of `available` bytes of memory.
    /// Returns the options, one warning for each bad value, and the options in effect as
    /// `NAME=value`.
    pub fn read(
        get: impl Fn(&str) -> Option<String>,
        available: u64,
    ) -> (Self, Vec<String>, Vec<String>) {
        let mut options = Options {
            target: Target::Null,
            buffer: 0,
            memory: 0,
            off: false,
            stats: None,
            limit: None,
            region: Region::All,
            sample: 1,
        };
        let (mut warnings, mut effective) = (Vec::new(), Vec::new());
        for spec in TABLE {
            let given = get(spec.name).filter(|v| !v.is_empty());
            let mut value = given.as_deref().unwrap_or(spec.default);
            if (spec.set)(&mut options, value, available).is_none() {
                warnings.push(format!(
                    "{}={value} is not {}; using {}",
                    spec.name,
                    spec.expected,
                    if spec.default.is_empty() { "none" } else { spec.default }
                ));
                value = spec.default;
                // The test below shows that defaults are never bad.
                let _ = (spec.set)(&mut options, value, available);
            }
            effective.push(format!("{}={value}", spec.name));
        }
        (options, warnings, effective)
    }

    /// Bytes that may wait for the writer, at least one buffer.
    #[must_use]
    pub fn queue_limit(&self) -> u64 {
        self.memory.max(self.buffer as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: &[(&str, &str)]) -> (Options, Vec<String>, Vec<String>) {
        let get = |name: &str| {
            let value = given.iter().find(|(n, _)| *n == name)?.1;
            Some(value.to_owned())
        };
        Options::read(get, 10 << 30)
    }

    #[test]
    fn defaults_are_right() {
        let (o, warnings, effective) = read(&[]);
        assert_eq!(warnings, [""; 0]);
        assert_eq!(o.target, Target::Path("trace.bin".into()));
        assert_eq!(o.buffer, 1 << 20);
        assert_eq!(o.memory, (10 << 30) / 100 * 90);
        assert!(!o.off && o.stats.is_none());
        assert!(effective.contains(&"CONTECH_BUFFER=1M".to_owned()));
    }

    #[test]
    fn given_values_count() {
        let (o, warnings, _) = read(&[
            ("CONTECH_TRACE", "null"),
            ("CONTECH_BUFFER", "64K"),
            ("CONTECH_MEMORY", "8M"),
            ("CONTECH_OFF", "1"),
            ("CONTECH_STATS", "s.json"),
        ]);
        assert_eq!(warnings, [""; 0]);
        assert_eq!(o.target, Target::Null);
        assert_eq!((o.buffer, o.memory), (64 << 10, 8 << 20));
        assert_eq!(o.queue_limit(), 8 << 20);
        assert!(o.off);
        assert_eq!(o.stats, Some(PathBuf::from("s.json")));
    }

    #[test]
    fn a_bad_value_is_one_warning_and_the_default() {
        for (name, bad) in [
            ("CONTECH_TRACE", "fd:x"),
            ("CONTECH_BUFFER", "much"),
            ("CONTECH_BUFFER", "1K"),
            ("CONTECH_BUFFER", "1G"),
            ("CONTECH_MEMORY", "200%"),
            ("CONTECH_OFF", "maybe"),
            ("CONTECH_ROI", "2"),
            ("CONTECH_SAMPLE", "1/0"),
            ("CONTECH_SAMPLE", "10%"),
            ("CONTECH_SAMPLE", "0.1"),
            ("CONTECH_SAMPLE", "2"),
            ("CONTECH_ROI", "function:f"),
            ("CONTECH_ROI", "time:3s-2s"),
            ("CONTECH_ROI", "time:1-2h"),
            ("CONTECH_LIMIT", "much"),
            ("CONTECH_LIMIT", "10%"),
        ] {
            let (o, warnings, _) = read(&[(name, bad)]);
            assert_eq!(warnings.len(), 1, "{name}={bad}");
            assert!(warnings[0].starts_with(&format!("{name}={bad} is not ")));
            assert_eq!(o, read(&[]).0, "{name}={bad}");
        }
    }

    #[test]
    fn regions_and_limits_are_read_and_an_empty_value_is_the_default() {
        let of = |name, value| read(&[(name, value)]).0;
        assert_eq!(of("CONTECH_ROI", "1").region, Region::Marked);
        let region = of("CONTECH_ROI", "time:300ms-1.5s").region;
        let ms = Duration::from_millis;
        assert_eq!(region, Region::Between(ms(300), ms(1500)));
        let limit = |text| of("CONTECH_LIMIT", text).limit;
        assert_eq!((limit("2G"), limit("auto")), (Some(2 << 30), None));
        assert_eq!(limit("none"), Some(u64::MAX));
        let (options, warnings, _) = read(&[("CONTECH_BUFFER", "")]);
        assert_eq!((options.buffer, warnings.len()), (1 << 20, 0));
        // Less memory than a buffer is a queue of one.
        assert_eq!(of("CONTECH_MEMORY", "1").queue_limit(), 1 << 20);
    }
}
