//! Finds the observer's library, and reads the observation that it writes.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use contech_observation::Observation;

const NAME: &str = "libcontech_observe.so";

/// The path of the library, which is beside this program.
///
/// # Errors
/// When it is not there.
pub(super) fn find() -> Result<PathBuf> {
    let own = std::env::current_exe().context("cannot tell where contech is")?;
    let folder = own.parent().unwrap_or(Path::new("."));
    let places = [folder.join(NAME), folder.join("../lib").join(NAME)];
    let found = places.iter().find(|path| path.is_file());
    found.cloned().ok_or_else(|| {
        anyhow!(
            "{NAME} is not in {}: build it (cargo build --release builds both)",
            folder.display()
        )
    })
}

/// Reads the observation of a run.
///
/// # Errors
/// When there is no observation, it is damaged, or it does not reach the program's end.
pub(super) fn read(path: &Path, command: &str) -> Result<Observation> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            bail!(
                "{command}: nothing was observed: the program is statically linked, runs with more rights than its \
                 caller, or starts another program that does the work (name that one)"
            );
        }
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", path.display()));
        }
    };
    let observation: Observation = serde_json::from_slice(&bytes).with_context(|| {
        format!("the observation of {command} is damaged, or of another build: install contech as a whole")
    })?;
    ensure!(
        observation.complete,
        "{command}: the observer did not see its end; does it end by a signal?"
    );
    Ok(observation)
}
