//! Messages of the runtime: single lines on stderr.

use crate::memory;

/// Writes `contech: TEXT` as one line to stderr, in one system call.
pub fn say(text: &str) {
    let mut line = Vec::with_capacity(text.len() + 10);
    line.extend_from_slice(b"contech: ");
    line.extend_from_slice(contech_plain::line(&text.replace('\n', " ")).as_bytes());
    line.push(b'\n');
    memory::write_stderr(&line);
}
