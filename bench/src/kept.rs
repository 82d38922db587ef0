//! The rows of a long bench, in a file line by line, so that a bench that was interrupted can be resumed.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The file, and the rows that an earlier run left in it.
#[derive(Debug)]
pub struct Kept<T> {
    file: File,
    rows: Vec<T>,
}

impl<T: Serialize + DeserializeOwned> Kept<T> {
    /// Opens the file at `path`. With `resume` its rows are kept if its first line says that they are of the `same`
    /// kind; otherwise the file begins anew.
    pub fn open(path: &Path, same: &str, resume: bool) -> Result<Self> {
        let name = || format!("cannot write {}", path.display());
        let before = match std::fs::read_to_string(path) {
            Ok(text) if resume => text,
            _ => String::new(),
        };
        let mut lines = before.lines();
        let mut rows = Vec::new();
        if lines.next() == Some(same) {
            // The last line of an interrupted run may be half of one.
            rows.extend(lines.map_while(|line| serde_json::from_str(line).ok()));
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(name)?;
        }
        let mut file = File::create(path).with_context(name)?;
        writeln!(file, "{same}")?;
        let mut kept = Self {
            file,
            rows: Vec::new(),
        };
        for row in rows {
            kept.add(&row)?;
            kept.rows.push(row);
        }
        Ok(kept)
    }

    /// The rows of the earlier run.
    #[must_use]
    pub fn rows(&self) -> &[T] {
        &self.rows
    }

    pub fn add(&mut self, row: &T) -> Result<()> {
        writeln!(self.file, "{}", serde_json::to_string(row)?)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_cut_run_are_kept_if_they_are_of_the_same_kind() {
        let folder = std::env::temp_dir().join(format!("contech-kept-{}", std::process::id()));
        let path = folder.join("rows");
        let open = |same: &str, resume| Kept::<u32>::open(&path, same, resume).expect("a file");
        let mut kept = open("5 runs", true);
        assert!(kept.rows().is_empty());
        (1..=3).for_each(|row| kept.add(&row).expect("written"));
        write!(kept.file, "{{\"half\":").expect("written");
        assert_eq!(open("5 runs", true).rows(), [1, 2, 3]);
        assert_eq!(open("5 runs", true).rows(), [1, 2, 3]);
        assert!(open("3 runs", true).rows().is_empty());
        assert!(open("5 runs", true).rows().is_empty());
        open("5 runs", true).add(&7).expect("written");
        assert!(open("5 runs", false).rows().is_empty());
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
