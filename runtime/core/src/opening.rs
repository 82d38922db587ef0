//! Opens the place that a trace goes to, and collects what its first chunk says.

use std::sync::atomic::AtomicBool;

use contech_interpose::objects::executable;
use contech_trace::file::RunInfo;

use crate::memory;
use crate::output::Descriptor;
use crate::target::{Target, expand};

/// Opens what the trace is written to. `place` becomes its name, for messages. If another process
/// writes its trace there, or this process did before it replaced its program, this takes a name
/// beside it.
pub(crate) fn open(
    target: &Target,
    forked: bool,
    place: &mut String,
    finishing: &'static AtomicBool,
) -> std::io::Result<Option<Descriptor>> {
    let variable = |name: &str| std::env::var(name).ok();
    match target {
        Target::Null => Ok(None),
        Target::Descriptor(fd) => {
            *place = format!("descriptor {fd}");
            if forked {
                return Err(std::io::Error::other(
                    "it belongs to the parent process, whose trace this one's would garble",
                ));
            }
            Ok(Some(Descriptor::given(*fd)?.until(finishing)))
        }
        Target::Path(pattern) => {
            let pid = memory::process_id();
            let first = expand(pattern, pid, forked, variable);
            let started = process_start_unix_ns();
            place.clone_from(&first);
            for attempt in 0..100 {
                match Descriptor::create(place, started) {
                    Err(e) if e.kind() == std::io::ErrorKind::ResourceBusy => {
                        *place = match attempt {
                            0 => format!("{first}.{pid}"),
                            n => format!("{first}.{pid}.{n}"),
                        };
                    }
                    other => return Ok(Some(other?.until(finishing))),
                }
            }
            Err(std::io::ErrorKind::ResourceBusy.into())
        }
    }
}

/// When this process began, in ns since 1970, a little early rather than late; 0 if unknown.
fn process_start_unix_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let boot = stat.lines().find_map(|l| l.strip_prefix("btime ")?.trim().parse::<u64>().ok());
    let began = |ticks: u64| Some(boot? * 1_000_000_000 + ticks * 10_000_000);
    let began = memory::started(memory::process_id()).and_then(began);
    began.map_or(0, |ns| ns.saturating_sub(1_000_000_000))
}

/// What the trace's first chunk says of the run.
pub(crate) fn run_info(parent: u32, options: Vec<String>) -> RunInfo {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let command = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let command = command.strip_suffix(b"\0").unwrap_or(&command);
    RunInfo {
        command: command.split(|b| *b == 0).map(text).collect(),
        exe: executable(),
        host: std::fs::read_to_string("/proc/sys/kernel/hostname")
            .map(|h| h.trim().to_owned())
            .unwrap_or_default(),
        parent,
        options,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}
