//! Feeds a graph to an analysis in the order it asks for.

use anyhow::Result;
use rayon::prelude::*;
use taskgraph::ContextId;

use super::{Analysis, Graph, Order};

/// Runs an analysis over a graph.
///
/// # Errors
/// What the analysis or the graph reports first.
pub fn run<A: Analysis>(config: A::Config, graph: &Graph) -> Result<A::Report> {
    let analysis = A::new(config, graph)?;
    let shards = match analysis.order() {
        Order::Tables => Vec::new(),
        Order::Topological => vec![fill(&analysis, None, graph.tasks())?],
        Order::PerContext => {
            let contexts: Vec<ContextId> = graph.contexts().map(|context| context.id).collect();
            let shard =
                |&context: &ContextId| fill(&analysis, Some(context), graph.tasks_of(context));
            contexts.par_iter().map(shard).collect::<Result<_>>()?
        }
    };
    analysis.finish(graph, shards)
}

fn fill<'g, A: Analysis>(
    analysis: &A,
    context: Option<ContextId>,
    tasks: impl Iterator<Item = taskgraph::Result<super::Task<'g>>>,
) -> Result<A::Shard> {
    let mut shard = analysis.shard(context);
    for task in tasks {
        analysis.task(&mut shard, &task?)?;
    }
    analysis.seal(&mut shard);
    Ok(shard)
}
