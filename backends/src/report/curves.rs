//! Cache curves, and misses by instruction and allocation site, from one pass where the caches allow it.

use anyhow::Result;

use super::section::default_config;
use crate::analysis::{Analysis, Graph, run};
use crate::cache::{self, Cache};
use crate::misses::{self, Counter, Misses};

/// Both reports: what the two analyses say one by one.
///
/// # Errors
/// When the options make no sense or the graph cannot be read.
pub(super) fn curves(
    graph: &Graph,
    options: cache::Options,
) -> Result<(cache::Report, misses::Report)> {
    let config = || default_config::<Misses>();
    let (cache, misses) = (
        Cache::new(options.clone(), graph)?,
        Misses::new(config()?, graph)?,
    );
    let together = cache
        .one_exact_pass()
        .and_then(|every| Counter::among(misses.geometries(), every, graph.info().ops.len()));
    let Some(mut counter) = together else {
        return Ok((
            run::<Cache>(options, graph)?,
            run::<Misses>(config()?, graph)?,
        ));
    };
    for task in graph.tasks() {
        counter.task(&task?)?;
    }
    let shard = cache.counts(counter.model());
    Ok((
        cache.finish(graph, vec![shard])?,
        misses.finish(graph, vec![counter])?,
    ))
}
