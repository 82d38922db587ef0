//! The messages of MPI, and the communicators that they go through.
//!
//! The graph has a task where a send begins, a task where a receive completes, and an edge between
//! them. It has neither the tag nor the length of a message. It takes 24 bytes for each side.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use taskgraph::SyncOp;

use super::records::Field::{Byte, Number};
use super::records::{Definitions, Events, UNDEFINED};
use crate::analysis::Graph;

/// Numbers of OTF2: definitions, the kinds of groups with what they were called before version 1.1,
/// and a paradigm.
const GROUP: u8 = 18;
const COMM: u8 = 22;
const LOCATIONS: (u8, u8) = (4, 6);
const RANKS: (u8, u8) = (5, 4);
const MPI: u8 = 4;

/// One side of a message.
#[derive(Clone, Copy, Debug)]
struct Side {
    at_ns: u64,
    communicator: u32,
    /// The rank of the other side, as a place in the list of ranks.
    peer: u16,
    sends: bool,
}

/// The messages of a graph that are still to be written.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// The sides of each executor, the last one first.
    sides: Vec<Vec<Side>>,
    /// The ranks, as places in the list of ranks, each with the first executor that calls MPI.
    ranks: BTreeMap<u16, u32>,
    /// Communicators by name, and the ranks that are seen to use them, both ascending.
    communicators: Vec<(u64, Vec<u16>)>,
}

impl Messages {
    /// Finds the messages, if the graph is of an MPI run.
    pub(super) fn of(graph: &Graph) -> Result<Self> {
        let mut this = Self::default();
        if graph.meta().ranks.is_empty() {
            return Ok(this);
        }
        let (mut found, mut users) = (Vec::new(), BTreeMap::<u64, BTreeSet<u16>>::new());
        for context in graph.contexts() {
            for task in graph.tasks_of(context.id) {
                let task = task?;
                if !task.op().is_mpi() {
                    continue;
                }
                let (own, executor) = (context.space, task.executor().get());
                let first = this.ranks.entry(own).or_insert(executor);
                *first = executor.min(*first);
                // The start and the end of MPI have no communicator.
                if task.object() != 0 {
                    users.entry(task.object()).or_default().insert(own);
                }
                if task.op() != SyncOp::MpiRecv {
                    continue;
                }
                for &from in task.stored_dependencies() {
                    let send = graph.task(from)?;
                    let peer = graph.context(from.context).map(|context| context.space);
                    if let Some(peer) = peer.filter(|_| send.op() == SyncOp::MpiSend) {
                        let through = task.object();
                        found.push((send.executor(), send.start_ns(), true, own, through));
                        found.push((task.executor(), task.end_ns(), false, peer, through));
                    }
                }
            }
        }
        let users = users.into_iter().map(|(name, ranks)| (name, ranks.into_iter().collect()));
        this.communicators = users.collect();
        this.sides.resize_with(graph.executor_count(), Vec::new);
        for (executor, at_ns, sends, peer, through) in found {
            let known = this.communicators.binary_search_by_key(&through, |known| known.0);
            if let (Ok(known), Some(sides)) = (known, this.sides.get_mut(executor.index())) {
                let communicator = u32::try_from(known)?;
                sides.push(Side { at_ns, communicator, peer, sends });
            }
        }
        // A receive ends where it stands, and a send begins there.
        for sides in &mut this.sides {
            sides.sort_by_key(|side| std::cmp::Reverse((side.at_ns, side.sends)));
        }
        Ok(this)
    }

    /// Whether an executor stands for a rank.
    pub(super) fn is_rank(&self, executor: u32) -> bool {
        self.ranks.values().any(|own| *own == executor)
    }

    /// Writes the messages of an executor that come before what it does next at a moment.
    pub(super) fn write(
        &mut self,
        executor: usize,
        until_ns: u64,
        events: &mut Events,
    ) -> Result<()> {
        let Some(sides) = self.sides.get_mut(executor) else { return Ok(()) };
        let is_due = |side: &mut Side| (side.at_ns, side.sends) < (until_ns, true);
        while let Some(side) = sides.pop_if(is_due) {
            let members = &self.communicators[side.communicator as usize].1;
            let peer = members.partition_point(|rank| *rank < side.peer) as u64;
            events.message(side.at_ns, side.sends, (peer, side.communicator.into()))?;
        }
        Ok(())
    }

    /// Defines the ranks and the communicators.
    pub(super) fn define(&self, definitions: &mut Definitions) -> Result<()> {
        if self.ranks.is_empty() {
            return Ok(());
        }
        let all: Vec<u64> = self.ranks.values().map(|&executor| executor.into()).collect();
        let name = definitions.text("ranks")?;
        group(definitions, 0, name, LOCATIONS, &all)?;
        for (number, (communicator, members)) in (0..).zip(&self.communicators) {
            let place = |rank: &u16| self.ranks.range(..rank).count() as u64;
            let members: Vec<u64> = members.iter().map(place).collect();
            let name = definitions.text(&format!("communicator {communicator:#x}"))?;
            group(definitions, number + 1, name, RANKS, &members)?;
            let fields = [number, name, number + 1, UNDEFINED, 0];
            definitions.put(COMM, &fields.map(Number))?;
        }
        Ok(())
    }
}

fn group(
    definitions: &mut Definitions,
    number: u64,
    name: u64,
    (kind, before): (u8, u8),
    members: &[u64],
) -> Result<()> {
    let mut fields = vec![Number(number), Number(name), Byte(before), Number(members.len() as u64)];
    fields.extend(members.iter().map(|&member| Number(member)));
    fields.extend([Byte(kind), Byte(MPI), Number(0)]);
    definitions.put(GROUP, &fields)
}
