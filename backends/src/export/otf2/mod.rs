//! An OTF2 archive, for Vampir, Scalasca and Python: executors are locations, in the groups of
//! their processes, functions and waits are regions, and messages of MPI are sent and received.

mod messages;
mod records;

use std::fs;
use std::path::Path;

use anyhow::Result;
use taskgraph::{BlockCounts, BlockId, ExecutorId};

use self::messages::Messages;
use self::records::Field::{Byte, Number};
use self::records::{Definitions, Events, UNDEFINED, no_definitions};
use super::folded::program;
use super::lanes::{doing, main_block};
use crate::analysis::source::Place;
use crate::analysis::{Cause, Change, Graph, State, block_before, end_of, sweep};
use crate::parallelism::Doing;
use crate::tables::Numbered;
use crate::view::names;

/// Numbers of OTF2: its definitions, the kinds of groups and locations, the role of a function, and
/// the paradigms of what a compiler made and of what is known of none.
const CLOCK: u8 = 5;
const TREE_NODE: u8 = 12;
const GROUP: u8 = 13;
const LOCATION: u8 = 14;
const REGION: u8 = 15;
const PROCESS: u8 = 1;
const THREAD: u8 = 1;
const FUNCTION: u8 = 1;
const COMPILER: u8 = 2;
const NONE: u8 = 22;

/// A region: the name of a function, or of what else was done, its file and first line where these
/// are known, its role and its paradigm.
type Region = (String, String, u32, u8, u8);

/// A wait. The roles are numbered as 15: barrier, 28: message, and 33: wait for a thread.
fn wait(cause: Cause) -> Region {
    let role = match cause {
        Cause::Barrier => 15,
        Cause::Message => 28,
        Cause::Join => 33,
        _ => 0,
    };
    (format!("waits: {}", cause.name()), String::new(), 0, role, NONE)
}

/// What an executor does, and since when it is written.
#[derive(Debug)]
struct Location {
    events: Events,
    /// The regions that it is in, the outermost first.
    open: Vec<u64>,
    at_ns: u64,
}

impl Location {
    /// Leaves and enters regions, so that from `at_ns` on the executor is in these.
    fn go(&mut self, at_ns: u64, regions: &[u64]) -> Result<()> {
        let same = self.open.iter().zip(regions);
        let same = same.take_while(|(one, other)| one == other).count();
        for &region in self.open[same..].iter().rev() {
            self.events.region(at_ns, false, region)?;
        }
        for &region in &regions[same..] {
            self.events.region(at_ns, true, region)?;
        }
        self.open.clear();
        self.open.extend_from_slice(regions);
        Ok(())
    }
}

/// Writes the archive `traces.otf2` into a folder.
pub(super) fn write(folder: &Path, graph: &Graph) -> Result<()> {
    let inside = folder.join("traces");
    fs::create_dir(&inside)?;
    let mut regions = Numbered::default();
    let location = |at| {
        let events = Events::new(inside.join(format!("{at}.evt")));
        Location { events, open: Vec::new(), at_ns: 0 }
    };
    let mut locations: Vec<Location> = (0..graph.executor_count()).map(location).collect();
    let mut messages = Messages::of(graph)?;
    let mut doing = Doing::new(graph);
    // For each context, the regions that it is in.
    let mut stacks: Vec<Vec<u64>> = Vec::new();
    let mut counts = BlockCounts::new();
    sweep(graph, |change| {
        doing.change(change, |executor, time, (context, _)| {
            let location = &mut locations[executor];
            if time.start > location.at_ns {
                messages.write(executor, location.at_ns, &mut location.events)?;
                location.go(location.at_ns, &[])?;
            }
            messages.write(executor, time.start, &mut location.events)?;
            location.go(time.start, &stacks[context])?;
            location.at_ns = time.end;
            Ok(())
        })?;
        if stacks.len() <= change.context {
            stacks.resize(change.context + 1, Vec::new());
        }
        stacks[change.context] = stack(graph, change, &mut regions, &mut counts)?;
        Ok(())
    })?;
    let mut written = Vec::new();
    for (at, mut location) in (0..).zip(locations) {
        messages.write(at as usize, location.at_ns, &mut location.events)?;
        location.go(location.at_ns, &[])?;
        messages.write(at as usize, u64::MAX, &mut location.events)?;
        let chunks = location.events.chunks;
        if chunks.events > 0 || messages.is_rank(at) {
            written.push((ExecutorId::new(at), chunks.events));
            chunks.finish()?;
            no_definitions(inside.join(format!("{at}.def")))?;
        }
    }
    let mut definitions = Definitions::new(folder.join("traces.def"));
    define_regions(&mut definitions, graph, regions)?;
    define_locations(&mut definitions, graph, &doing, &written)?;
    messages.define(&mut definitions)?;
    let (anchor, locations) = (folder.join("traces.otf2"), written.len() as u64);
    definitions.finish(&anchor, locations, graph.meta().start_unix_ns)
}

/// The regions that a context is in after a change.
fn stack(
    graph: &Graph,
    change: &Change<'_>,
    regions: &mut Numbered<Region>,
    counts: &mut BlockCounts,
) -> Result<Vec<u64>> {
    let (Some(state), Some(task)) = (change.to, change.task) else {
        return Ok(Vec::new());
    };
    let code = |block: Option<BlockId>| {
        let place = block.map(|block| Place::of_block(graph.info(), block));
        let name = doing(task, place.as_ref());
        let info = graph.info();
        let function = block.and_then(|block| info.function(info.block(block)?.function));
        // What was inlined into a function has another name.
        let begins = function.filter(|function| names::label(&function.name) == name);
        let line = begins.map_or(0, |function| function.line);
        (name, place.map_or_else(String::new, |place| place.file), line, FUNCTION, COMPILER)
    };
    let stack = match state {
        State::Running => [Some(code(main_block(task, change.call, counts)?)), None],
        State::Waiting(cause) => {
            let block = match change.call.and_then(|call| call.block()) {
                None => block_before(task)?,
                block => block,
            };
            [block.map(|_| code(block)), Some(wait(cause))]
        }
    };
    Ok(stack.into_iter().flatten().map(|region| regions.insert_full(region).0 as u64).collect())
}

fn define_regions(
    definitions: &mut Definitions,
    graph: &Graph,
    regions: Numbered<Region>,
) -> Result<()> {
    let start = graph.meta().start_unix_ns;
    let second = 1_000_000_000;
    definitions.put(CLOCK, &[second, 0, end_of(graph), start].map(Number))?;
    let nothing = definitions.text("")?;
    for (number, (name, file, line, role, paradigm)) in (0..).zip(regions) {
        let (name, file) = (definitions.text(&name)?, definitions.text(&file)?);
        let fields = [
            Number(number),
            Number(name),
            Number(nothing),
            Byte(0), // What kinds of regions were called before version 1.1.
            Number(file),
            Number(line.into()),
            Number(0), // The last line is not known.
            Number(name),
            Byte(role),
            Byte(paradigm),
            Number(0),
        ];
        definitions.put(REGION, &fields)?;
    }
    Ok(())
}

/// The machine, its hosts, their processes, and the executors with their numbers of events.
fn define_locations(
    definitions: &mut Definitions,
    graph: &Graph,
    doing: &Doing,
    written: &[(ExecutorId, u64)],
) -> Result<()> {
    let meta = graph.meta();
    let ranks = meta.ranks.iter();
    let mut processes: Vec<_> =
        ranks.map(|rank| (format!("rank {}", rank.rank), rank.host.as_str())).collect();
    if processes.is_empty() {
        processes.push((program(graph), &meta.host));
    }
    let (machine, host) = (definitions.text("machine")?, definitions.text("node")?);
    definitions.put(TREE_NODE, &[0, machine, machine, UNDEFINED].map(Number))?;
    let mut hosts: Vec<&str> = Vec::new();
    for (group, (name, on)) in (0..).zip(&processes) {
        let known = hosts.iter().position(|host| host == on);
        let node = known.unwrap_or(hosts.len()) as u64 + 1;
        if known.is_none() {
            hosts.push(on);
            let name = definitions.text(on)?;
            definitions.put(TREE_NODE, &[node, name, host, 0].map(Number))?;
        }
        let name = definitions.text(name)?;
        let fields = [Number(group), Number(name), Byte(PROCESS), Number(node), Number(UNDEFINED)];
        definitions.put(GROUP, &fields)?;
    }
    for &(executor, events) in written {
        let space = graph.executor(executor).map_or(0, |known| known.space);
        let group = usize::from(space).min(processes.len() - 1) as u64;
        let name = definitions.text(&doing.name(graph, executor))?;
        let fields = [
            Number(executor.index() as u64),
            Number(name),
            Byte(THREAD),
            Number(events),
            Number(group),
        ];
        definitions.put(LOCATION, &fields)?;
    }
    Ok(())
}
