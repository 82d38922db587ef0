//! Whether what a link is given was compiled with contech-cc. What was not runs unrecorded, in
//! silence.

use std::fs;
use std::path::{Path, PathBuf};

use crate::rust::bitcode::{Content, content};
use crate::rust::link::members;

/// Folders of the system, whose files nobody expects to see recorded.
const SYSTEM: [&str; 3] = ["/usr", "/lib", "/lib64"];

/// What there is to say of these files: how many have code and no table of contech's, and which
/// comes first.
pub(crate) fn warning(files: &[PathBuf]) -> Option<String> {
    let of_system = |file: &Path| SYSTEM.iter().any(|folder| file.starts_with(folder));
    let mut left = files.iter().filter(|file| !of_system(file) && is_unrecorded(file));
    let first = left.next()?.display();
    Some(match left.count() {
        0 => format!("{first} was not compiled with contech-cc: its code will not be recorded"),
        more => format!(
            "{} files were not compiled with contech-cc: their code will not be recorded (the first is {first})",
            more + 1
        ),
    })
}

/// Whether there is code in an object, or in the objects of an archive, and none of it is recorded.
/// Bitcode alone is compiled by the linker.
fn is_unrecorded(file: &Path) -> bool {
    // The linker reports what cannot be read.
    let Ok(bytes) = fs::read(file) else { return false };
    let contents = match members(file, &bytes) {
        Ok(members) => members.into_iter().map(|(_, _, content)| content).collect(),
        Err(_) => vec![content(&bytes)],
    };
    let is_code = |content: &Content<'_>| matches!(content, Content::Plain | Content::Embedded(_));
    contents.iter().any(is_code) && !contents.contains(&Content::Recorded)
}
