//! Communicators. All ranks agree on a communicator's name. Each of its ranks also has a rank in
//! the world.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use contech_trace::file::checksum;

use super::Call;
use super::abi::{Abi, UNDEFINED};
use super::entry::pmpi;
use super::model::Communicator;
use super::state;

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
        add_at(self.abi, at);
    }
}

/// Makes the communicator known whose handle is at an address, if it is not null.
pub(super) fn add_at(abi: &Abi, at: usize) {
    // MPI_COMM_NULL is 0x04000000 in one interface and the address of ompi_mpi_comm_null in the
    // other.
    let handle = abi.handle_in(at, 0);
    let null = if abi.wide {
        super::entry::find("ompi_mpi_comm_null\0").map_or(0, |a| a as u64)
    } else {
        0x0400_0000
    };
    if handle != null && handle != 0 {
        add(abi, usize::try_from(handle).unwrap_or(0));
    }
}

/// Makes a communicator known. Another communicator may have had its handle before.
pub(super) fn add(abi: &Abi, handle: usize) -> Arc<Communicator> {
    let mut between: c_int = 0;
    pmpi!(PMPI_Comm_test_inter(handle, (&raw mut between).addr()));
    let mut rank: c_int = 0;
    pmpi!(PMPI_Comm_rank(handle, (&raw mut rank).addr()));
    let mut group = 0usize;
    pmpi!(PMPI_Comm_group(handle, (&raw mut group).addr()));
    let own = members(abi, group);
    let mut all = own.clone();
    let mut world = own;
    if between != 0 {
        let mut group = 0usize;
        pmpi!(PMPI_Comm_remote_group(handle, (&raw mut group).addr()));
        let remote = members(abi, group);
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
    let mut size: c_int = 0;
    pmpi!(PMPI_Group_size(group, (&raw mut size).addr()));
    let ranks: Vec<c_int> = (0..size).collect();
    let mut translated = vec![UNDEFINED; ranks.len()];
    let mut world = 0usize;
    pmpi!(PMPI_Comm_group(abi.world(), (&raw mut world).addr()));
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
