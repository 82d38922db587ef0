//! The statistics file: JSON of what was recorded, as far as it is known without decoding a record.
//! Only the records have block executions and accesses; `contech-middle trace.bin graph.tg --json`
//! counts them after the run.

use std::io;
use std::path::Path;

use contech_interpose::whole;

/// What was recorded. The keys of the file are the names of the fields, and `blocks` and
/// `accesses`, which are null.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Bytes of records in all buffers.
    pub bytes: u64,
    /// Number of sync events.
    pub syncs: u64,
    /// How often the program was paused.
    pub pauses: u64,
    /// How often a try of a spin-wait was put off in vain.
    pub put_off: u64,
    pub contexts: u64,
    /// Bytes known to be lost.
    pub lost_bytes: u64,
    /// Everything was recorded.
    pub complete: bool,
}

impl Stats {
    #[must_use]
    pub fn json(&self) -> String {
        format!(
            "{{\"bytes\":{},\"blocks\":null,\"accesses\":null,\"syncs\":{},\"pauses\":{},\"put_off\":{},\"contexts\":{},\"lost_bytes\":{},\"complete\":{}}}\n",
            self.bytes,
            self.syncs,
            self.pauses,
            self.put_off,
            self.contexts,
            self.lost_bytes,
            self.complete
        )
    }

    /// Writes the whole file, or does not touch it.
    ///
    /// # Errors
    /// An error of the system.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        whole::replace(path, self.json().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_json_with_the_fixed_keys() {
        let stats = Stats { bytes: 1, complete: true, ..Stats::default() };
        let path = std::env::temp_dir().join(format!("contech-stats-{}", std::process::id()));
        stats.write(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        assert_eq!(
            text,
            "{\"bytes\":1,\"blocks\":null,\"accesses\":null,\"syncs\":0,\"pauses\":0,\"put_off\":0,\"contexts\":0,\"lost_bytes\":0,\"complete\":true}\n"
        );
    }
}
