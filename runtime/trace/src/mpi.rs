//! The meaning of the numbers in events of MPI.
//!
//! A communicator is named by a hash of its members and of the number of earlier communicators with
//! the same members. This name is the same in all ranks, and no rank has to ask the others. Ranks
//! are those of MPI_COMM_WORLD.

use contech_program::SyncOp;

/// Number of bits of a rank, which limits how many ranks there are.
pub const RANK_BITS: u32 = 16;
const RANKS: u64 = (1 << RANK_BITS) - 1;

/// The other side of a message, and the message's tag: `aux` of a send or receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// The rank of the other side.
    pub rank: u16,
    /// The message's tag.
    pub tag: u32,
}

impl Peer {
    /// Packs the envelope into a number of 48 bits.
    #[must_use]
    pub fn pack(self) -> u64 {
        u64::from(self.rank) | u64::from(self.tag) << RANK_BITS
    }

    /// Unpacks the number.
    #[must_use]
    pub fn unpack(aux: u64) -> Self {
        let [a, b, c, d, e, f, ..] = aux.to_le_bytes();
        Peer { rank: u16::from_le_bytes([a, b]), tag: u32::from_le_bytes([c, d, e, f]) }
    }
}

/// Which ranks come before which in a collective operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// All ranks come before all.
    All,
    /// The root comes before all others.
    FromRoot,
    /// All others come before the root.
    ToRoot,
    /// Each rank comes before those of greater rank.
    Ascending,
}

/// Which ranks come before which in a collective operation; `None` for other operations.
#[must_use]
pub fn direction(op: SyncOp) -> Option<Direction> {
    Some(match op {
        SyncOp::MpiBcast | SyncOp::MpiScatter => Direction::FromRoot,
        SyncOp::MpiGather | SyncOp::MpiReduce => Direction::ToRoot,
        SyncOp::MpiScan | SyncOp::MpiExscan => Direction::Ascending,
        SyncOp::MpiBarrier
        | SyncOp::MpiAllreduce
        | SyncOp::MpiAllgather
        | SyncOp::MpiAlltoall
        | SyncOp::MpiReduceScatter
        | SyncOp::MpiComm
        | SyncOp::MpiFence => Direction::All,
        _ => return None,
    })
}

/// A collective operation: `aux` of its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meeting {
    /// Which operation it is.
    pub what: SyncOp,
    /// Rank of the root; in a scan, the own rank in the communicator; in other operations, any
    /// number.
    pub root: u16,
    /// Number of ranks that take part, at most 2^24 - 1.
    pub size: u32,
}

impl Meeting {
    /// Which ranks come before which.
    #[must_use]
    pub fn direction(self) -> Direction {
        direction(self.what).unwrap_or(Direction::All)
    }

    /// Packs the operation into a number of 48 bits.
    #[must_use]
    pub fn pack(self) -> u64 {
        let size = u64::from(self.size) & 0xff_ffff;
        u64::from(self.root) | (self.what as u64) << RANK_BITS | size << (RANK_BITS + 8)
    }

    /// Unpacks the number; `None` if there is no such operation.
    #[must_use]
    pub fn unpack(aux: u64) -> Option<Self> {
        let [a, b, what, d, e, f, ..] = aux.to_le_bytes();
        Some(Meeting {
            what: SyncOp::from_u8(what).filter(|op| direction(*op).is_some())?,
            root: u16::from_le_bytes([a, b]),
            size: u32::from_le_bytes([d, e, f, 0]),
        })
    }
}

/// A rank as it is kept in 16 bits.
#[must_use]
pub fn rank16(rank: u64) -> u16 {
    u16::try_from(rank.min(RANKS)).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_and_meetings_survive_packing_in_48_bits() {
        let peer = Peer { rank: 65_535, tag: u32::MAX };
        assert!(peer.pack() < 1 << 48);
        assert_eq!(Peer::unpack(peer.pack()), peer);
        for &what in SyncOp::ALL.iter().filter(|op| direction(**op).is_some()) {
            let meeting = Meeting { what, root: 513, size: 0xff_fffe };
            assert!(meeting.pack() < 1 << 48);
            assert_eq!(Meeting::unpack(meeting.pack()), Some(meeting));
        }
        assert_eq!(Meeting::unpack(0xff << RANK_BITS), None);
        let none = Meeting { what: SyncOp::MutexLock, root: 0, size: 1 };
        assert_eq!(Meeting::unpack(none.pack()), None);
    }
}
