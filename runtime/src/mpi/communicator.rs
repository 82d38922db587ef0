//! Communicators, which are made of others, and freed. All ranks agree on a communicator's name. Each
//! of its ranks also has a rank in the world.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use contech_trace::event::SyncOp;
use contech_trace::file::checksum;

use super::abi::{Abi, UNDEFINED};
use super::collective::meets;
use super::entry::{pmpi, stored};
use super::state::{self, Communicator, Request};
use super::{Call, after, around};

/// Names have 48 bits, as objects do.
const NAME: u64 = (1 << 48) - 1;
/// Stands between the two groups of an intercommunicator in the hashed list.
const BETWEEN: c_int = -1;

impl Call {
    /// The communicator of a handle that the program passed.
    pub(super) fn communicator(&self, handle: usize) -> Arc<Communicator> {
        let known = state::with(|t| t.communicators.get(&self.abi.handle(handle)).cloned());
        known.unwrap_or_else(|| add(self.abi, handle))
    }

    /// Makes a new communicator known. `at` is the address of its handle. MPI_COMM_NULL is ignored.
    pub(super) fn made(&self, at: usize) {
        let handle = self.abi.handle_in(at, 0);
        if handle != self.abi.handle(self.abi.no_communicator.word()) && handle != 0 {
            add(self.abi, usize::try_from(handle).unwrap_or(0));
        }
    }
}

/// Makes a communicator known. Another communicator may have had its handle before.
pub(super) fn add(abi: &Abi, handle: usize) -> Arc<Communicator> {
    let between: c_int = stored(|at| pmpi!(PMPI_Comm_test_inter(handle, at)));
    let rank: c_int = stored(|at| pmpi!(PMPI_Comm_rank(handle, at)));
    let own = members(abi, stored(|at| pmpi!(PMPI_Comm_group(handle, at))));
    let mut all = own.clone();
    let mut world = own;
    if between != 0 {
        let remote = members(abi, stored(|at| pmpi!(PMPI_Comm_remote_group(handle, at))));
        all = if world < remote {
            [&world[..], &[BETWEEN], &remote].concat()
        } else {
            [&remote[..], &[BETWEEN], &world].concat()
        };
        world = remote;
    }
    let bytes: Vec<u8> = all.iter().flat_map(|r| r.to_le_bytes()).collect();
    let sum = checksum(&bytes);
    let size = all.len() - usize::from(between != 0);
    state::with(|t| {
        let before = t.namesakes.entry(sum).or_default();
        let number = *before;
        *before += 1;
        let name = [sum.to_le_bytes(), number.to_le_bytes()].concat();
        let made = Arc::new(Communicator {
            name: checksum(&name) & NAME,
            world,
            rank: rank.unsigned_abs(),
            size: u32::try_from(size).unwrap_or(u32::MAX),
            between: between != 0,
            collectives: AtomicU64::new(0),
        });
        t.communicators.insert(abi.handle(handle), Arc::clone(&made));
        made
    })
}

/// The ranks in MPI_COMM_WORLD of a group. This frees the group.
fn members(abi: &Abi, mut group: usize) -> Vec<c_int> {
    let size: c_int = stored(|at| pmpi!(PMPI_Group_size(group, at)));
    let ranks: Vec<c_int> = (0..size).collect();
    let mut translated = vec![UNDEFINED; ranks.len()];
    let mut world: usize = stored(|at| pmpi!(PMPI_Comm_group(abi.world.word(), at)));
    pmpi!(PMPI_Group_translate_ranks(
        group,
        ranks.len(),
        ranks.as_ptr().addr(),
        world,
        translated.as_mut_ptr().addr(),
    ));
    pmpi!(PMPI_Group_free((&raw mut world).addr()));
    pmpi!(PMPI_Group_free((&raw mut group).addr()));
    translated
}

/// Records that all ranks of a communicator meet. Each may get a new communicator, whose handle is
/// then at `new`.
pub(super) fn divides(on: usize, new: usize, real: impl FnOnce() -> c_int) -> c_int {
    makes(new, || meets(SyncOp::MpiComm, on, 0, real))
}

/// Makes a communicator known that `real` makes. Only ranks of the new one meet, which makes no
/// task.
pub(super) fn makes(new: usize, real: impl FnOnce() -> c_int) -> c_int {
    after(real, |call| call.made(new))
}

/// Does so once the request is complete.
pub(super) fn makes_later(new: usize, request: usize, real: impl FnOnce() -> c_int) -> c_int {
    after(real, |call| call.keep(request, Request::Communicator(new)))
}

/// Forgets a communicator that `real` frees, because another one may get its handle.
pub(super) fn forgets(at: usize, real: impl FnOnce() -> c_int) -> c_int {
    around(
        |call| Some(call.abi.handle_in(at, 0)),
        real,
        |_, handle| drop(state::with(|t| t.communicators.remove(&handle))),
    )
}
