//! MPI: which receive got which send, and which ranks met in which collective operation.
//!
//! Messages of one communicator, sender, receiver and tag do not overtake each other (MPI-4.0,
//! 3.5). Of the receives that were posted for them, in the order of posting, the n-th got the n-th
//! message that was sent. A receive with wildcards is recorded with the sender and tag that its
//! status named. Memory does not grow with the number of messages, because both orders come from
//! sorting.
//!
//! A communicator has the same name in all ranks, and each rank counts its collective operations on
//! it.

use std::sync::Arc;

use contech_trace::event::SyncOp;
use contech_trace::mpi::{Direction, Meeting, Peer, direction};

use crate::align::Align;
use crate::edges::Edges;
use crate::error::Result;
use crate::place::Place;
use crate::rules::barrier::meet;
use crate::sorter::{Sorted, Sorter};
use crate::spill::Spill;

/// Largest number of ranks in a collective operation whose times are compared to place clocks.
/// Operations with more ranks say nothing more about clocks.
const MOST_COMPARED: usize = 32;

/// Collects the events of all ranks.
#[derive(Debug)]
pub(crate) struct Messages {
    /// `[communicator, sender and receiver, tag, order, place, time]`.
    sends: Sorter<6>,
    receives: Sorter<6>,
    /// `[communicator, number, rank << 2 | role, place, start, end, meeting]`.
    collective: Sorter<7>,
    /// The rank whose events are being added.
    rank: u16,
}

/// What a rank does in a collective operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Meets,
    Begins,
    Ends,
}

/// A rank in a collective operation.
#[derive(Debug, Clone, Copy)]
struct Member {
    rank: u64,
    role: Role,
    place: Place,
    start: u64,
    end: u64,
    meeting: Meeting,
}

/// How much of the messages was found.
#[derive(Debug, Default)]
struct Tally {
    lost_sends: u64,
    lost_receives: u64,
    first: Option<String>,
    /// Collective operations in which ranks are missing.
    partial: u64,
}

impl Messages {
    pub(crate) fn new(spill: &Arc<Spill>, budget: usize) -> Self {
        Messages {
            sends: Sorter::new(spill, budget / 4),
            receives: Sorter::new(spill, budget / 4),
            collective: Sorter::new(spill, budget / 2),
            rank: 0,
        }
    }

    /// Says that everything added from now on is of this rank.
    pub(crate) fn set_rank(&mut self, rank: u16) {
        self.rank = rank;
    }

    /// Adds an event: its communicator, ticket and aux, where it stands, and its start and end.
    pub(crate) fn push(
        &mut self,
        op: SyncOp,
        (name, ticket, aux): (u64, u64, u64),
        at: Place,
        (start, end): (u64, u64),
    ) -> Result<()> {
        let peer = Peer::unpack(aux);
        let (own, other) = (u64::from(self.rank), u64::from(peer.rank));
        let tag = u64::from(peer.tag);
        let role = match op {
            SyncOp::MpiSend => {
                let ends = own << 32 | other;
                return self.sends.push([name, ends, tag, ticket, at.bits(), start]);
            }
            SyncOp::MpiRecv => {
                let ends = other << 32 | own;
                return self.receives.push([name, ends, tag, ticket, at.bits(), end]);
            }
            SyncOp::MpiBegin => Role::Begins,
            SyncOp::MpiEnd => Role::Ends,
            _ if direction(op).is_some() => Role::Meets,
            _ => return Ok(()),
        };
        let Some(meeting) = Meeting::unpack(aux) else {
            return Ok(());
        };
        let what = match role {
            Role::Meets => op,
            Role::Begins | Role::Ends => meeting.what,
        };
        let aux = Meeting { what, ..meeting }.pack();
        let who = own << 2 | role as u64;
        self.collective.push([name, ticket, who, at.bits(), start, end, aux])
    }

    /// Makes edges of what was collected. `alone` says that only one of the ranks is there.
    pub(crate) fn apply(self, out: &mut Edges, align: &mut Align, alone: bool) -> Result<()> {
        let mut tally = Tally::default();
        pair((self.sends.finish()?, self.receives.finish()?), out, align, &mut tally)?;
        collectives(&self.collective.finish()?, out, align, &mut tally)?;
        if alone {
            return Ok(());
        }
        let Tally { lost_sends, lost_receives, first, partial } = tally;
        if lost_sends + lost_receives > 0 {
            out.notes
                .remark("MPI messages without their other side", || {
                    format!(
                        "{lost_sends} sent and not received, {lost_receives} received and not seen sent, first: {}",
                        first.unwrap_or_default()
                    )
                });
        }
        if partial > 0 {
            out.notes.remark("MPI collective operations that not all ranks are seen in", || {
                partial.to_string()
            });
        }
        Ok(())
    }
}

/// Pairs the n-th send of an envelope with the n-th receive.
fn pair(
    (sends, receives): (Sorted<6>, Sorted<6>),
    out: &mut Edges,
    align: &mut Align,
    tally: &mut Tally,
) -> Result<()> {
    let envelope = |words: [u64; 6]| [words[0], words[1], words[2]];
    let (mut sends, mut receives) = (sends.iter()?, receives.iter()?);
    let (mut sent, mut received) = (sends.next()?, receives.next()?);
    while let Some(least) = sent.into_iter().chain(received).map(envelope).min() {
        let send = sent.filter(|send| envelope(*send) == least);
        let receive = received.filter(|receive| envelope(*receive) == least);
        match (send, receive) {
            (Some(send), Some(receive)) => {
                let (from, to) = (Place::from_bits(send[4]), Place::from_bits(receive[4]));
                out.edge(from, to)?;
                align.before(out.trace_of(from), send[5], out.trace_of(to), receive[5]);
            }
            (Some(_), None) => {
                tally.lost_sends += 1;
                tally.describe("sent", least);
            }
            (None, _) => {
                tally.lost_receives += 1;
                tally.describe("received", least);
            }
        }
        if send.is_some() {
            sent = sends.next()?;
        }
        if receive.is_some() {
            received = receives.next()?;
        }
    }
    Ok(())
}

impl Tally {
    fn describe(&mut self, what: &str, [_, ends, tag]: [u64; 3]) {
        self.first.get_or_insert_with(|| {
            let (from, to) = (ends >> 32, ends & 0xffff_ffff);
            format!("{what} from rank {from} to rank {to} with tag {tag}")
        });
    }
}

fn collectives(
    all: &Sorted<7>,
    out: &mut Edges,
    align: &mut Align,
    tally: &mut Tally,
) -> Result<()> {
    let mut all = all.iter()?;
    let mut key = [0; 2];
    let mut members: Vec<Member> = Vec::new();
    while let Some([name, number, who, place, start, end, aux]) = all.next()? {
        if [name, number] != key {
            together(&mut members, out, align, tally)?;
            key = [name, number];
        }
        let role = match who & 3 {
            0 => Role::Meets,
            1 => Role::Begins,
            _ => Role::Ends,
        };
        if let Some(meeting) = Meeting::unpack(aux) {
            members.push(Member {
                rank: who >> 2,
                role,
                place: Place::from_bits(place),
                start,
                end,
                meeting,
            });
        }
    }
    together(&mut members, out, align, tally)
}

/// Collects all events of one collective operation, by rank.
fn together(
    members: &mut Vec<Member>,
    out: &mut Edges,
    align: &mut Align,
    tally: &mut Tally,
) -> Result<()> {
    let Some(first) = members.first().copied() else {
        return Ok(());
    };
    let arrive = |m: &&Member| m.role != Role::Ends;
    let leave = |m: &&Member| m.role != Role::Begins;
    if members.iter().filter(arrive).count() < first.meeting.size as usize {
        tally.partial += 1;
    }
    let direction = first.meeting.direction();
    if direction == Direction::All {
        let places = || members.iter().filter(|m| m.role == Role::Meets);
        if let Some(owner) = places().map(|m| m.place).min() {
            meet(places().map(|m| m.place), owner, out)?;
        }
    }
    let compared = members.len() <= MOST_COMPARED;
    for from in members.iter().filter(arrive) {
        for to in members.iter().filter(leave) {
            if from.rank == to.rank || !from.is_before(to) {
                continue;
            }
            if compared {
                let traces = (out.trace_of(from.place), out.trace_of(to.place));
                align.before(traces.0, from.start, traces.1, to.end);
            }
            if direction != Direction::All || from.role == Role::Begins {
                out.edge(from.place, to.place)?;
            }
        }
    }
    members.clear();
    Ok(())
}

impl Member {
    /// Whether the other member cannot leave before this one has come.
    fn is_before(&self, other: &Member) -> bool {
        let root = u64::from(self.meeting.root);
        match self.meeting.direction() {
            Direction::All => true,
            Direction::FromRoot => self.rank == root,
            Direction::ToRoot => other.rank == root,
            // For this direction, the number is a member's own rank in the communicator.
            Direction::Ascending => self.meeting.root < other.meeting.root,
        }
    }
}
