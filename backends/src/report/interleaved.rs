//! Sharing and hierarchy from one pass over the actions in the order of time.

use anyhow::Result;

use super::section::{default_config, run_if_recorded};
use crate::analysis::{Analysis, Graph};
use crate::hierarchy::{self, Hierarchy};
use crate::interleave;
use crate::sharing::{self, Sharing};

/// A result, or why a graph without accesses has none.
type Either<R> = Result<R, String>;

/// Both reports: what the two analyses say one by one.
///
/// # Errors
/// When the graph cannot be read.
pub(super) fn sharing_and_hierarchy(
    graph: &Graph,
) -> Result<(Either<sharing::Report>, Either<hierarchy::Report>)> {
    let sharing = Sharing::new(default_config::<Sharing>()?, graph);
    let hierarchy = Hierarchy::new(default_config::<Hierarchy>()?, graph);
    let (Ok(sharing), Ok(hierarchy)) = (sharing, hierarchy) else {
        // One of them says why.
        return Ok((
            run_if_recorded::<Sharing>(graph)?,
            run_if_recorded::<Hierarchy>(graph)?,
        ));
    };
    if sharing.slice() != hierarchy.slice() {
        return Ok((
            Ok(sharing.finish(graph, Vec::new())?),
            Ok(hierarchy.finish(graph, Vec::new())?),
        ));
    }
    let (mut transfers, mut machine) = (sharing.watch(), hierarchy.watch(graph));
    interleave::by_time(graph, sharing.slice(), |context, _, action| {
        transfers.action(context, action);
        machine.action(context, action);
        Ok(())
    })?;
    Ok((
        Ok(transfers.report(graph)),
        Ok(hierarchy.report(machine.machine())),
    ))
}
