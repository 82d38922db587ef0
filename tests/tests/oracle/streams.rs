//! Access streams, one per thread, from either recorder.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use contech_tests::program::{Said, said};
use contech_tests::recording::{backend, backend_json};

/// The streams that the independent recorder wrote.
pub(crate) fn of_oracle(text: &str) -> Result<Vec<Vec<Said>>> {
    let mut streams = Vec::new();
    for line in text.lines() {
        if line == "thread" {
            streams.push(Vec::new());
        } else {
            streams.last_mut().context("an access before any thread")?.push(said(line)?);
        }
    }
    Ok(streams)
}

/// The streams that the graph holds, by `contech-backend dump --accesses CTX:*`.
pub(crate) fn of_graph(graph: &Path) -> Result<Vec<Vec<Said>>> {
    let contexts = backend_json(&["stats"], graph)?["contexts"].as_u64().context("contexts")?;
    let mut streams = Vec::new();
    for context in 0..contexts {
        let selection = format!("{context}:*");
        let dump = backend(&["dump", "--accesses", &selection], graph)?.ok()?;
        let stream = dump.out().lines().map(said).collect::<Result<Vec<_>>>()?;
        if !stream.is_empty() {
            streams.push(stream);
        }
    }
    Ok(streams)
}

/// Checks that every thread of one recording has its equal in the other. Returns the number of
/// read-modify-writes.
///
/// The recorders number threads differently, so threads are paired by their first accesses. Threads
/// of one program touch their own stacks, which tells them apart.
pub(crate) fn compare(wanted: &[Vec<Said>], recorded: &[Vec<Said>]) -> Result<u64> {
    let lengths = |s: &[Vec<Said>]| s.iter().map(Vec::len).collect::<Vec<_>>();
    if wanted.len() != recorded.len() {
        bail!("{:?} accesses per thread, recorded {:?}", lengths(wanted), lengths(recorded));
    }
    let mut unpaired: BTreeMap<usize, &Vec<Said>> = recorded.iter().enumerate().collect();
    let mut pairs = 0;
    for want in wanted {
        let mut nearest = None;
        let found = unpaired.iter().find_map(|(&i, got)| match difference(want, got) {
            Ok(rmws) => Some((i, rmws)),
            Err((at, why)) => {
                if nearest.as_ref().is_none_or(|(best, _)| at > *best) {
                    nearest = Some((at, why));
                }
                None
            }
        });
        let Some((i, rmws)) = found else {
            let (at, why) = nearest.context("no thread left to compare with")?;
            bail!(
                "a thread of {} accesses has no equal; {:?} recorded; the nearest differs at access {at}: {why}",
                want.len(),
                lengths(recorded)
            );
        };
        unpaired.remove(&i);
        pairs += rmws;
    }
    Ok(pairs)
}

/// The number of read-modify-writes by which two equal streams differ in form, or the place where
/// they differ.
fn difference(want: &[Said], got: &[Said]) -> Result<u64, (usize, String)> {
    let (mut i, mut k, mut rmws) = (0, 0, 0);
    while i < want.len() || k < got.len() {
        let (w, g) = (want.get(i), got.get(k));
        if w == g {
            k += 1;
        } else if let (Some(&(true, addr, size)), Some(&(false, a, s)), Some(&(true, b, t))) =
            (w, g, got.get(k + 1))
            && (a, s, b, t) == (addr, size, addr, size)
        {
            rmws += 1;
            k += 2;
        } else {
            let near = |s: &[Said], at: usize| {
                format!("{:x?}", &s[at.saturating_sub(3)..s.len().min(at + 4)])
            };
            return Err((
                i,
                format!(
                    "expected {w:x?}, recorded {g:x?}; around: {} / {}",
                    near(want, i),
                    near(got, k)
                ),
            ));
        }
        i += 1;
    }
    Ok(rmws)
}
