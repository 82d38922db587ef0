//! How the command `shard` does an analysis, and the options of any.

use anyhow::Result;
use clap::{ArgMatches, FromArgMatches};
use serde::Serialize;

use crate::analysis::{Analysis, Divided, Graph, Share, run_share, something_to_analyse, warnings};
use crate::output::json;

/// The options of an analysis, if the graph has something for it.
pub(super) fn config<A>(matches: &ArgMatches, graph: &Graph) -> Result<A::Config>
where
    A: Analysis<Config: FromArgMatches>,
{
    if A::NEEDS_ACCESSES {
        something_to_analyse(graph, A::NAME)?;
    }
    Ok(A::Config::from_arg_matches(matches)?)
}

/// What workers do, and what is made of what they found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Division {
    /// Does a share, and returns what was found as JSON.
    pub(super) run: fn(&ArgMatches, &Graph, Share) -> Result<Vec<u8>>,
    /// Makes the result, as JSON.
    pub(super) merge: fn(&ArgMatches, &Graph, &[Vec<u8>]) -> Result<String>,
}

impl Division {
    pub(super) const fn of<A>() -> Self
    where
        A: Divided<Config: FromArgMatches, Report: Serialize>,
    {
        Self {
            run: |matches, graph, share| {
                let analysis = A::new(config::<A>(matches, graph)?, graph)?;
                let found = run_share(analysis, graph, share)?;
                Ok(serde_json::to_vec(&found)?)
            },
            merge: |matches, graph, parts| {
                let analysis = A::new(config::<A>(matches, graph)?, graph)?;
                let parts = parts.iter().map(|part| Ok(serde_json::from_slice(part)?));
                let mut report = analysis.join(graph, parts.collect::<Result<_>>()?)?;
                A::complete(&mut report, graph)?;
                json(&report, &warnings(graph))
            },
        }
    }
}
