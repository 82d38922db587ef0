//! The program starts another one and reads its output.
// MODE: golden

use std::process::Command;

pub(crate) fn main() {
    let output = Command::new("sh").args(["-c", "echo one; exit 3"]).output().unwrap();
    println!("{} {:?}", String::from_utf8_lossy(&output.stdout).trim(), output.status.code());
}
