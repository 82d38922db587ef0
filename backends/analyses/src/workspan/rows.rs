//! The rows of the result: call sites, speedup bounds, calling contexts.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use serde::Serialize;
use taskgraph::{FunctionId, StaticInfo};
use workspan::Measure;

use super::machine::Machine;
use super::tree::{SiteKey, Tree};
use super::{Options, Report};
use crate::analysis::Graph;
use crate::analysis::source::file_line;
use crate::scaling::Measured;
use crate::view::units::{plural, ratio};

/// Number of calling contexts in the result.
const MOST_FLAME: usize = 4000;

/// A call site.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SiteRow {
    /// The function that contains it; empty for what no recorded function calls.
    pub caller: String,
    /// The invoked function; if there are several, the one with the most work.
    pub callee: String,
    /// Source file of the call.
    pub file: String,
    /// Source line of the call, 0 when unknown.
    pub line: u32,
    /// `call`, `spawn` or, on-line, `loop`.
    pub kind: &'static str,
    /// Invocations.
    pub count: u64,
    /// Work over span of its top-call-site invocations.
    pub parallelism: f64,
    /// The measurements of all invocations.
    pub on_work: Measure,
    /// The measurements of those on the critical path.
    pub on_span: Measure,
}

impl SiteRow {
    /// `qsort.c:20`, or the callee if the line is unknown.
    #[must_use]
    pub fn place(&self) -> String {
        match self.file.as_str() {
            "" => self.callee.clone(),
            file => file_line(file, self.line),
        }
    }
}

/// Bounds of the speedup on a number of processors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bound {
    /// Processors.
    pub processors: u32,
    /// The smaller one of P and the parallelism, because no schedule is faster.
    pub upper: f64,
    /// The speedup that work stealing with burden can be expected to reach: work / (work / P + 1.7
    /// burdened span), as in Cilkview.
    pub lower: f64,
}

/// A calling context, with recursion folded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlameNode {
    /// Index of the context that it hangs below; its own index for the first.
    pub parent: usize,
    /// Function.
    pub name: String,
    /// Where it is called.
    pub place: String,
    /// Its own work.
    pub work: u64,
    /// Its own part of the longest path.
    pub span: u64,
}

/// The result of a walk.
pub(super) fn report(graph: &Graph, machine: &mut Machine, options: &Options) -> Report {
    let on_span = machine.on_span();
    let mut on_work = std::mem::take(&mut machine.on_work);
    on_work.resize(on_span.len(), Measure::default());
    let (work, span) = (machine.work, machine.span);
    let mut notes = Vec::new();
    if machine.unjoined > 0 {
        notes.push(format!(
            "{} never joined: their work is in that of the program, but of no call site that created them.",
            plural(machine.unjoined, "context")
        ));
    }
    let burdened_span = machine.burdened.max(span);
    Report {
        metric: options.metric,
        locks: options.locks,
        work,
        span,
        parallelism: ratio(work, span),
        burden: options.burden(),
        burdened_span,
        burdened_parallelism: ratio(work, burdened_span),
        sites: sites(graph.info(), machine, &on_work, &on_span),
        bounds: bounds(work, span, burdened_span, options.p_max, options.measured.as_ref()),
        measured: options.measured.clone(),
        flame: flame(
            graph.info(),
            &machine.tree,
            &on_work,
            &on_span,
            if options.whole { usize::MAX } else { MOST_FLAME },
        ),
        what_if: None,
        notes,
    }
}

/// Bounds for the numbers of processors up to the largest one asked for, and those that were
/// measured.
pub(super) fn bounds(
    work: u64,
    span: u64,
    burdened: u64,
    p_max: u32,
    measured: Option<&Measured>,
) -> Vec<Bound> {
    let measured = measured.into_iter().flat_map(|m| &m.points);
    let processors: BTreeSet<u32> = (1..=p_max)
        .filter(|&p| p <= 64 || p.is_power_of_two() || p == p_max)
        .chain(measured.map(|point| point.threads))
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "a bound for people")]
    let (work_f, burdened) = (work as f64, burdened as f64);
    let bound = |processors| {
        let p = f64::from(processors);
        let lower = work_f / (work_f / p + 1.7 * burdened);
        let lower = if lower.is_finite() { lower } else { 0.0 };
        Bound { processors, upper: p.min(ratio(work, span)), lower }
    };
    processors.into_iter().map(bound).collect()
}

fn sites(
    info: &StaticInfo,
    machine: &Machine,
    on_work: &[Measure],
    on_span: &[Measure],
) -> Vec<SiteRow> {
    #[derive(Clone, Default)]
    struct Site {
        work: Measure,
        span: Measure,
        callees: FxHashMap<Option<FunctionId>, u64>,
    }
    let tree = &machine.tree;
    let mut sums = vec![Site::default(); tree.sites().len()];
    for (at, node) in tree.nodes().iter().enumerate() {
        let site = &mut sums[node.site as usize];
        site.work += on_work[at];
        site.span += on_span[at];
        *site.callees.entry(node.function).or_default() += on_work[at].local.work + 1;
    }
    let rows = tree.sites().iter().zip(sums).filter_map(|(&key, sum)| {
        let callee = sum
            .callees
            .iter()
            .max_by_key(|&(&function, &work)| {
                (function.is_some(), work, std::cmp::Reverse(function))
            })
            .and_then(|(&function, _)| function);
        (sum.work != Measure::default() || sum.span != Measure::default()).then(|| SiteRow {
            count: sum.work.local.count,
            parallelism: sum.work.top_call_site.parallelism(),
            on_work: sum.work,
            on_span: sum.span,
            ..place(info, key, callee)
        })
    });
    let mut rows: Vec<SiteRow> = rows.collect();
    rows.sort_by(|a, b| {
        let by = |row: &SiteRow| (row.on_span.local.span, row.on_work.local.work);
        by(b)
            .cmp(&by(a))
            .then_with(|| (&a.file, a.line, &a.callee).cmp(&(&b.file, b.line, &b.callee)))
    });
    rows
}

/// A call site without measurements.
fn place(info: &StaticInfo, key: SiteKey, callee: Option<FunctionId>) -> SiteRow {
    let name = |id: FunctionId| {
        info.function(id).map_or_else(String::new, |function| function.name.clone())
    };
    let (block, kind) = match key {
        SiteKey::Call(block) => (Some(block), "call"),
        SiteKey::Spawn(block) => (Some(block), "spawn"),
        SiteKey::SpawnOutside => (None, "spawn"),
        SiteKey::Program | SiteKey::Outside(_) => (None, "call"),
    };
    let Some(block) = block.and_then(|block| info.block(block)) else {
        let fallback = if key == SiteKey::Program { "(program)" } else { "(not recorded)" };
        let file = callee.map_or("", |id| info.file_of(id));
        let line = callee.and_then(|id| info.function(id)).map_or(0, |function| function.line);
        return SiteRow {
            callee: callee.map_or_else(|| fallback.to_owned(), name),
            file: file.to_owned(),
            line,
            kind,
            ..SiteRow::default()
        };
    };
    let call = block.call.as_ref();
    SiteRow {
        caller: name(block.function),
        callee: callee
            .map_or_else(|| call.map_or_else(String::new, |call| call.callee.clone()), name),
        file: info.file_of(block.function).to_owned(),
        line: info.call_line_of(block).unwrap_or_else(|| info.line_of(block)),
        kind,
        ..SiteRow::default()
    }
}

fn flame(
    info: &StaticInfo,
    tree: &Tree,
    on_work: &[Measure],
    on_span: &[Measure],
    most: usize,
) -> Vec<FlameNode> {
    // The nodes with the most below them. Children never weigh more than their parents, so the
    // parents are among them.
    let mut below: Vec<u64> = on_work
        .iter()
        .zip(on_span)
        .map(|(work, span)| work.local.work.saturating_add(span.local.span))
        .collect();
    for at in (1..below.len()).rev() {
        let parent = tree.nodes()[at].parent as usize;
        below[parent] = below[parent].saturating_add(below[at]);
    }
    let mut order: Vec<usize> = (0..below.len()).filter(|&at| below[at] > 0).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(below[at]), at));
    order.truncate(most);
    order.sort_unstable();
    let index: FxHashMap<usize, usize> = order.iter().enumerate().map(|(i, &at)| (at, i)).collect();
    order
        .iter()
        .map(|&at| {
            let node = &tree.nodes()[at];
            let named = place(info, tree.sites()[node.site as usize], node.function);
            FlameNode {
                parent: index.get(&(node.parent as usize)).copied().unwrap_or(0),
                place: file_line(&named.file, named.line),
                name: named.callee,
                work: on_work[at].local.work,
                span: on_span[at].local.span,
            }
        })
        .collect()
}
