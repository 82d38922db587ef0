//! Progress for people, on standard error, and only if that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A spinner with a name and a message; hidden when standard error is not a terminal.
#[must_use]
pub fn spinner(name: &'static str) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {msg} {elapsed}") {
        bar.set_style(style);
    }
    bar.set_prefix(name);
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}
