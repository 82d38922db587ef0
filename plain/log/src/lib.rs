//! The tools' log, for who works on them: how long each step took.
//!
//! `CONTECH_LOG=debug` has every step, `CONTECH_LOG=contech_middle=debug` those of one crate. A
//! line is written to standard error when a step ends.

use std::io::{IsTerminal as _, stderr};

use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::prelude::*;

use contech_plain::say;

/// Begins the log, if `CONTECH_LOG` asks for one.
pub fn begin() {
    let Ok(wanted) = std::env::var("CONTECH_LOG") else {
        return;
    };
    match wanted.parse::<Targets>() {
        Ok(wanted) => {
            let lines = tracing_subscriber::fmt::layer()
                .with_writer(stderr)
                .with_ansi(stderr().is_terminal())
                .with_span_events(FmtSpan::CLOSE);
            // A second log of the process is none.
            let _ = tracing_subscriber::registry().with(lines.with_filter(wanted)).try_init();
        }
        Err(error) => say!(
            "warning: CONTECH_LOG={wanted}: {error}; a level such as debug, or CRATE=debug, is expected"
        ),
    }
}
