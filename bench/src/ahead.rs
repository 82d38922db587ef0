//! Commands that are timed run before all others, where this user may.

use std::path::Path;
use std::process::Command;

/// Before the name of a program: real-time priority, in turn with others of it.
const PRIORITY: [&str; 3] = ["chrt", "-r", "10"];

/// Whether it can be had: root can, and who may by the limits.
#[must_use]
pub fn is_possible() -> bool {
    let mut command = Command::new(PRIORITY[0]);
    command.args(&PRIORITY[1..]).arg("true");
    command.output().is_ok_and(|done| done.status.success())
}

/// The program before all others, if that can be had: a machine with other users is then almost as good as quiet.
#[must_use]
pub fn ahead(program: &Path) -> Command {
    if is_possible() {
        let mut command = Command::new(PRIORITY[0]);
        command.args(&PRIORITY[1..]).arg(program);
        command
    } else {
        Command::new(program)
    }
}

/// How commands were run, in words.
#[must_use]
pub fn words() -> &'static str {
    if is_possible() {
        "With real-time priority: other programs take processors only in between."
    } else {
        "Without real-time priority, which this user may not use: other programs disturb."
    }
}
