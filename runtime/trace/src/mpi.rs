//! What the numbers in events of MPI mean.
//!
//! A communicator is named by a hash of its members and of how many communicators of the same members came
//! before it: the same in all ranks, without asking them. Ranks are those of MPI_COMM_WORLD.

use crate::numbered::numbered;

/// Most ranks: numbers of this many bits.
pub const RANK_BITS: u32 = 16;
const RANKS: u64 = (1 << RANK_BITS) - 1;

/// The other side of a message, and its tag: `aux` of a send or receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its rank.
    pub rank: u16,
    /// The message's tag.
    pub tag: u32,
}

impl Peer {
    /// As a number of 48 bits.
    #[must_use]
    pub fn pack(self) -> u64 {
        u64::from(self.rank) | u64::from(self.tag) << RANK_BITS
    }

    /// From that number.
    #[must_use]
    pub fn unpack(aux: u64) -> Self {
        let [a, b, c, d, e, f, ..] = aux.to_le_bytes();
        Peer {
            rank: u16::from_le_bytes([a, b]),
            tag: u32::from_le_bytes([c, d, e, f]),
        }
    }
}

numbered! {
    /// A collective operation.
    pub enum Collective {
        /// MPI_Barrier
        Barrier = 0,
        /// MPI_Bcast
        Bcast = 1,
        /// MPI_Scatter, MPI_Scatterv
        Scatter = 2,
        /// MPI_Gather, MPI_Gatherv
        Gather = 3,
        /// MPI_Reduce
        Reduce = 4,
        /// MPI_Allreduce
        Allreduce = 5,
        /// MPI_Allgather, MPI_Allgatherv
        Allgather = 6,
        /// MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw
        Alltoall = 7,
        /// MPI_Reduce_scatter, MPI_Reduce_scatter_block
        ReduceScatter = 8,
        /// MPI_Scan
        Scan = 9,
        /// MPI_Exscan
        Exscan = 10,
        /// A communicator is made of another (dup, split, create, topologies).
        Comm = 11,
        /// A window is made or freed, or MPI_Win_fence.
        Fence = 12,
    }
}

/// Who comes before whom in a collective operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// All before all.
    All,
    /// The root before all others.
    FromRoot,
    /// All others before the root.
    ToRoot,
    /// Each rank before those of greater rank.
    Ascending,
}

impl Collective {
    /// Who comes before whom.
    #[must_use]
    pub fn direction(self) -> Direction {
        match self {
            Collective::Bcast | Collective::Scatter => Direction::FromRoot,
            Collective::Gather | Collective::Reduce => Direction::ToRoot,
            Collective::Scan | Collective::Exscan => Direction::Ascending,
            _ => Direction::All,
        }
    }
}

numbered! {
    /// Calls that are recorded as marks.
    pub enum Mark {
        /// MPI_Init, MPI_Init_thread
        Init = 0,
        /// MPI_Finalize
        Finalize = 1,
        /// MPI_Probe and kin
        Probe = 2,
        /// MPI_Put
        Put = 3,
        /// MPI_Get
        Get = 4,
        /// MPI_Accumulate and kin
        Accumulate = 5,
        /// Synchronisation of windows other than fences
        Window = 6,
        /// Neighbourhood collectives, collectives between groups
        Neighbours = 7,
        /// MPI_Abort
        Abort = 8,
    }
}

/// A collective operation: `aux` of its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meeting {
    /// Which.
    pub what: Collective,
    /// Rank of the root; of a scan the own rank in the communicator; for others anything.
    pub root: u16,
    /// How many take part, at most 2^24 - 1.
    pub size: u32,
}

impl Meeting {
    /// Who comes before whom.
    #[must_use]
    pub fn direction(self) -> Direction {
        self.what.direction()
    }

    /// As a number of 48 bits.
    #[must_use]
    pub fn pack(self) -> u64 {
        let size = u64::from(self.size) & 0xff_ffff;
        u64::from(self.root) | (self.what as u64) << RANK_BITS | size << (RANK_BITS + 8)
    }

    /// From that number; `None` where there is no such operation.
    #[must_use]
    pub fn unpack(aux: u64) -> Option<Self> {
        let [a, b, what, d, e, f, ..] = aux.to_le_bytes();
        Some(Meeting {
            what: Collective::from_u8(what)?,
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
        let peer = Peer {
            rank: 65_535,
            tag: u32::MAX,
        };
        assert!(peer.pack() < 1 << 48);
        assert_eq!(Peer::unpack(peer.pack()), peer);
        for &what in Collective::ALL {
            let meeting = Meeting {
                what,
                root: 513,
                size: 0xff_fffe,
            };
            assert!(meeting.pack() < 1 << 48);
            assert_eq!(Meeting::unpack(meeting.pack()), Some(meeting));
        }
        assert_eq!(Meeting::unpack(0xff << RANK_BITS), None);
        for &mark in Mark::ALL {
            assert_eq!(Mark::from_u8(mark as u8), Some(mark));
        }
    }
}
