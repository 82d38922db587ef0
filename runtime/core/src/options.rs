//! Run-time options, from environment variables. A bad value causes one line on stderr and the default.

use std::path::PathBuf;

use contech_trace::abi::SLACK;

use crate::size;
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
    /// Chunks are compressed while a core is idle.
    pub compress: bool,
    /// Times within tasks are noted.
    pub times: bool,
}

/// The smallest buffer: twice the slack, so that at least half of it is used.
pub const MIN_BUFFER: u64 = 2 * SLACK as u64;
/// The largest buffer: a chunk holds one buffer.
pub const MAX_BUFFER: u64 = contech_trace::file::MAX_CHUNK as u64;

struct Spec {
    name: &'static str,
    default: &'static str,
    /// Sets the option, or says what the value should have been.
    set: fn(&mut Options, &str, u64) -> Result<(), &'static str>,
}

const TABLE: &[Spec] = &[
    Spec {
        name: "CONTECH_TRACE",
        default: "trace.bin",
        set: |o, v, _| {
            o.target = Target::parse(v).ok_or("a path, null, - or fd:NUMBER")?;
            Ok(())
        },
    },
    Spec {
        name: "CONTECH_BUFFER",
        default: "1M",
        set: |o, v, _| {
            let bytes = size::parse(v).filter(|b| (MIN_BUFFER..=MAX_BUFFER).contains(b));
            let bytes = bytes.and_then(|b| usize::try_from(b).ok());
            o.buffer = bytes.ok_or("a size from 32K to 256M")?;
            Ok(())
        },
    },
    Spec {
        name: "CONTECH_MEMORY",
        default: "90%",
        set: |o, v, available| {
            o.memory = size::parse_share(v, available).ok_or("a size or a share like 90%")?;
            Ok(())
        },
    },
    Spec {
        name: "CONTECH_OFF",
        default: "0",
        set: |o, v, _| flag(&mut o.off, v),
    },
    Spec {
        name: "CONTECH_STATS",
        default: "",
        set: |o, v, _| {
            o.stats = (!v.is_empty()).then(|| PathBuf::from(v));
            Ok(())
        },
    },
    Spec {
        name: "CONTECH_COMPRESS",
        default: "0",
        set: |o, v, _| flag(&mut o.compress, v),
    },
    Spec {
        name: "CONTECH_TIMES",
        default: "0",
        set: |o, v, _| flag(&mut o.times, v),
    },
    Spec {
        name: "CONTECH_ROI",
        default: "0",
        set: |_, v, _| match v {
            "" | "0" => Ok(()),
            _ => Err("0, for this version cannot restrict recording to regions of interest"),
        },
    },
];

fn flag(to: &mut bool, value: &str) -> Result<(), &'static str> {
    *to = match value {
        "" | "0" => false,
        "1" => true,
        _ => return Err("0 or 1"),
    };
    Ok(())
}

impl Options {
    /// Reads the options with `get` (the environment). Shares are of `available` bytes of memory. Returns the options,
    /// one warning for each bad value, and the options in effect as `NAME=value`.
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
            compress: false,
            times: false,
        };
        let (mut warnings, mut effective) = (Vec::new(), Vec::new());
        for spec in TABLE {
            let given = get(spec.name).filter(|v| !v.is_empty());
            let mut value = given.as_deref().unwrap_or(spec.default);
            if let Err(expected) = (spec.set)(&mut options, value, available) {
                warnings.push(format!(
                    "{}={value} is not {expected}; using {}",
                    spec.name,
                    if spec.default.is_empty() {
                        "none"
                    } else {
                        spec.default
                    }
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
        assert!(!o.off && !o.compress && o.stats.is_none());
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
            ("CONTECH_COMPRESS", "yes"),
            ("CONTECH_ROI", "1"),
        ] {
            let (o, warnings, _) = read(&[(name, bad)]);
            assert_eq!(warnings.len(), 1, "{name}={bad}");
            assert!(warnings[0].starts_with(&format!("{name}={bad} is not ")));
            assert_eq!(o, read(&[]).0, "{name}={bad}");
        }
    }

    #[test]
    fn an_empty_value_is_the_default() {
        let (o, warnings, _) = read(&[("CONTECH_BUFFER", "")]);
        assert_eq!(o.buffer, 1 << 20);
        assert!(warnings.is_empty());
    }

    #[test]
    fn less_memory_than_a_buffer_is_a_queue_of_one() {
        assert_eq!(read(&[("CONTECH_MEMORY", "1")]).0.queue_limit(), 1 << 20);
    }
}
