//! Finds the ranks of several traces of one run, and checks that the traces belong together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use contech_trace::file::{ChunkKind, FileHeader, RankInfo, RunInfo};
use contech_trace::reader::Next;

use crate::error::{Error, Result};
use crate::input::Input;
use crate::rules::MOST_TRACES;

/// A trace, and what it says about itself.
#[derive(Debug)]
pub(crate) struct Ranked {
    pub(crate) path: PathBuf,
    pub(crate) rank: RankInfo,
    header: FileHeader,
    host: String,
}

/// Returns the traces sorted by rank, and the ranks that are missing.
///
/// # Errors
/// The traces are not of one run, or one of them is not of a rank.
pub(crate) fn in_order(paths: &[PathBuf]) -> Result<(Vec<Ranked>, Vec<u32>)> {
    if paths.len() > MOST_TRACES {
        return Err(apart(format!(
            "{} traces are more than the {MOST_TRACES} that can be told apart",
            paths.len()
        )));
    }
    let mut ranked: Vec<Ranked> = paths.iter().map(|p| peek(p)).collect::<Result<_>>()?;
    ranked.sort_by_key(|r| r.rank.rank);
    for pair in ranked.windows(2) {
        agree(&pair[0], &pair[1])?;
    }
    let size = ranked.first().map_or(0, |r| r.rank.size);
    let there: Vec<u32> = ranked.iter().map(|r| r.rank.rank).collect();
    let missing = (0..size).filter(|r| !there.contains(r)).collect();
    Ok((ranked, missing))
}

/// The places of the traces that agree with the first one.
pub(crate) fn like_first(paths: &[PathBuf]) -> Vec<usize> {
    let Some(Ok(first)) = paths.first().map(|path| peek(path)) else {
        return Vec::new();
    };
    let agrees = |path: &PathBuf| peek(path).is_ok_and(|other| agree(&first, &other).is_ok());
    let others = (1..paths.len()).filter(|&at| agrees(&paths[at]));
    std::iter::once(0).chain(others).collect()
}

fn apart(what: String) -> Error {
    Error::Apart { what }
}

/// Checks that two traces agree; they are neighbours by rank.
fn agree(a: &Ranked, b: &Ranked) -> Result<()> {
    let names = format!("{} and {}", a.path.display(), b.path.display());
    let (one, two) = (&a.rank, &b.rank);
    let same_job = one.run == two.run;
    // Without the number of a job, only ranks of one host can be compared.
    let comparable = one.job == two.job && (one.job || a.host == b.host);
    if one.size != two.size || (comparable && !same_job) || one.library != two.library {
        return Err(apart(format!(
            "{names} are not of the same run: rank {} of {} (process {}), rank {} of {} (process {}); give the traces of one mpirun, and remove those of earlier runs",
            one.rank, one.size, a.header.pid, two.rank, two.size, b.header.pid
        )));
    }
    if one.rank == two.rank {
        return Err(apart(format!(
            "{names} are both of rank {}; give each rank's trace once",
            one.rank
        )));
    }
    Ok(())
}

/// What to do if a trace cannot be read.
const REMEDY: &str = "give trace files that can be read more than once";

/// Reads a trace until it says which rank it is of.
fn peek(path: &Path) -> Result<Ranked> {
    let input = Input::from(path);
    let name = input.name();
    let (header, mut reader) = input.open()?.chunks(&name, REMEDY)?;
    let mut host = String::new();
    let mut raw = Vec::new();
    loop {
        let chunk = match reader.next_chunk().map_err(Error::unreadable(&name, REMEDY))? {
            Next::Chunk(chunk) => chunk,
            Next::Skipped { .. } => continue,
            Next::End => break,
        };
        let wanted = matches!(chunk.header.kind, ChunkKind::Run | ChunkKind::Rank);
        let Some(bytes) = wanted.then(|| chunk.payload(&mut raw).ok()).flatten() else {
            continue;
        };
        if chunk.header.kind == ChunkKind::Run {
            host = RunInfo::from_bytes(bytes).unwrap_or_default().host;
        } else if let Ok(rank) = RankInfo::from_bytes(bytes) {
            return Ok(Ranked { path: path.to_owned(), rank, header, host });
        }
    }
    Err(apart(format!(
        "{name} does not say which MPI rank it is of: its program ended before MPI_Init, was built without contech-cc linking its MPI, or the file is cut; leave it out, or convert it by itself"
    )))
}

/// Writes ascending numbers as `1, 3 to 5`.
pub(crate) fn list(numbers: &[u32]) -> String {
    let mut runs: BTreeMap<u32, u32> = BTreeMap::new();
    for &n in numbers {
        match runs.last_entry() {
            Some(mut run) if *run.get() + 1 == n => *run.get_mut() = n,
            _ => {
                runs.insert(n, n);
            }
        }
    }
    let text = |(from, to): (u32, u32)| match to - from {
        0 => from.to_string(),
        1 => format!("{from}, {to}"),
        _ => format!("{from} to {to}"),
    };
    let parts: Vec<String> = runs.into_iter().map(text).collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_in_a_row_are_written_as_a_range() {
        assert_eq!(super::list(&[1, 3, 4, 5, 7, 8]), "1, 3 to 5, 7, 8");
        assert_eq!(super::list(&[]), "");
    }
}
