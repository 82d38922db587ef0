//! The profile format of callgrind: KCachegrind and `callgrind_annotate` read it. Functions have
//! their own numbers by line, and those of what they call by line and callee.
//!
//! A call of a function that is further up on the stack has no numbers of its own: they are in
//! those of its outermost call already.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::io::Write;

use anyhow::Result;
use taskgraph::FunctionId;

use super::profile::Profile;
use crate::analysis::Graph;
use crate::tables::Numbered;

/// The own numbers of a function by line, and its calls by line and callee: how many, and their
/// numbers.
#[derive(Default)]
struct Function {
    own: BTreeMap<u32, Vec<u64>>,
    calls: BTreeMap<(u32, Option<FunctionId>), (u64, Vec<u64>)>,
}

/// Writes a profile.
pub(super) fn write(out: &mut dyn Write, graph: &Graph, profile: &Profile) -> Result<()> {
    let width = profile.metrics.len();
    let mut functions: BTreeMap<Option<FunctionId>, Function> = BTreeMap::new();
    let mut below = vec![vec![0; width]; profile.nodes.len()];
    let mut total = vec![0; width];
    for (&(node, line), costs) in &profile.rows {
        let function = functions.entry(profile.nodes[node as usize].function);
        let own = function.or_default().own.entry(line);
        add(own.or_insert_with(|| vec![0; width]), costs);
        add(&mut below[node as usize], costs);
        add(&mut total, costs);
    }
    // Parents come first.
    for (at, node) in profile.nodes.iter().enumerate().rev() {
        let Some(parent) = node.parent else { continue };
        let own = std::mem::take(&mut below[at]);
        add(&mut below[parent as usize], &own);
        let caller = functions.entry(profile.nodes[parent as usize].function);
        let calls = caller.or_default().calls.entry((node.line, node.function));
        let (count, costs) = calls.or_insert_with(|| (0, vec![0; width]));
        *count += node.calls;
        if !node.recursive {
            add(costs, &own);
        }
    }
    writeln!(out, "# callgrind format")?;
    writeln!(out, "version: 1")?;
    writeln!(out, "creator: contech-backend {}", env!("CARGO_PKG_VERSION"))?;
    writeln!(out, "pid: {}", graph.meta().pid)?;
    writeln!(out, "cmd: {}", line(&graph.meta().command.join(" ")))?;
    writeln!(out, "positions: line")?;
    for (name, about) in &profile.metrics {
        writeln!(out, "event: {name} : {about}")?;
    }
    let names = profile.metrics.iter().map(|(name, _)| name.as_str());
    writeln!(out, "events: {}", names.collect::<Vec<_>>().join(" "))?;
    writeln!(out, "summary: {}", numbers(&total))?;
    let mut named = Named { graph, files: Numbered::default(), functions: Numbered::default() };
    for (&id, function) in &functions {
        writeln!(out, "\nfl={}\nfn={}", named.file(id), named.function(id))?;
        for (line, costs) in &function.own {
            writeln!(out, "{line} {}", numbers(costs))?;
        }
        for (&(line, callee), (count, costs)) in &function.calls {
            let about = callee.and_then(|id| graph.info().function(id));
            let start = about.map_or(0, |about| about.line);
            writeln!(
                out,
                "cfi={}\ncfn={}\ncalls={count} {start}\n{line} {}",
                named.file(callee),
                named.function(callee),
                numbers(costs)
            )?;
        }
    }
    writeln!(out, "\ntotals: {}", numbers(&total))?;
    Ok(())
}

/// Names by number; a name is written once.
struct Named<'g> {
    graph: &'g Graph,
    files: Numbered<u32>,
    functions: Numbered<Option<FunctionId>>,
}

impl Named<'_> {
    fn file(&mut self, id: Option<FunctionId>) -> String {
        let info = self.graph.info();
        let about = id.and_then(|id| info.function(id));
        let file = about.map_or(u32::MAX, |about| about.file);
        let name = id.map_or("", |id| info.file_of(id));
        Self::numbered(&mut self.files, file, if name.is_empty() { "???" } else { name })
    }

    fn function(&mut self, id: Option<FunctionId>) -> String {
        let about = id.and_then(|id| self.graph.info().function(id));
        let name = about.map_or("(not recorded)", |about| about.name.as_str());
        Self::numbered(&mut self.functions, id, name)
    }

    fn numbered<K: Hash + Eq>(known: &mut Numbered<K>, key: K, name: &str) -> String {
        match known.insert_full(key) {
            (at, true) => format!("({}) {}", at + 1, line(name)),
            (at, false) => format!("({})", at + 1),
        }
    }
}

fn add(sums: &mut [u64], more: &[u64]) {
    let pairs = sums.iter_mut().zip(more);
    pairs.for_each(|(sum, more)| *sum = sum.saturating_add(*more));
}

fn numbers(costs: &[u64]) -> String {
    let texts: Vec<String> = costs.iter().map(u64::to_string).collect();
    texts.join(" ")
}

/// A text without line breaks.
fn line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
