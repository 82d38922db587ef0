//! Timed commands run before all others on the machine, where this user may ask for that.

use std::path::Path;
use std::process::Command;

/// The words before the name of a program: real-time priority, in turn with other such programs.
const PRIORITY: [&str; 3] = ["chrt", "-r", "10"];

/// Whether this user may run commands so: root may, and so may users whom the limits allow it.
#[must_use]
pub fn is_possible() -> bool {
    let mut command = Command::new(PRIORITY[0]);
    command.args(&PRIORITY[1..]).arg("true");
    command.output().is_ok_and(|done| done.status.success())
}

/// A command that runs the program before all others, if that is possible. A machine with other users is then almost
/// as good as a quiet one.
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

#[must_use]
pub fn words() -> &'static str {
    if is_possible() {
        "With real-time priority: other programs take processors only in between."
    } else {
        "Without real-time priority, which this user may not use: other programs disturb."
    }
}
