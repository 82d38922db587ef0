//! Records the beginning and the end of MPI.

use std::ffi::c_int;

use contech_interpose::{memory, notice};
use contech_runtime_core::finish::Finish;
use contech_trace::event::{EndReason, SyncOp};
use contech_trace::file::{RankInfo, checksum};

use super::entry::{pmpi, stored};
use super::{Within, abi, communicator, state};
use crate::active::recording_if;
use crate::current::{self, guarded};
use crate::tls::block;

pub(super) fn initialises(real: impl FnOnce() -> c_int) -> c_int {
    let Some(_within) = Within::outermost() else {
        return real();
    };
    let active = recording_if(|_| true);
    let allocating = active.map(|a| a.tls.allocating());
    let before = active.map_or(0, super::Active::now);
    let result = real();
    let Some(active) = active.filter(|_| result == 0) else {
        return result;
    };
    guarded(|| {
        let (found, library) = abi::detect();
        let Some(abi) = found else {
            let text = format!(
                "this program uses an MPI that is not known here ({library}): its processes are recorded, its messages are not; use Open MPI or MPICH"
            );
            notice::say(&text);
            active.recorder.remark(&text);
            return;
        };
        let world = abi.world.word();
        let rank: c_int = stored(|at| pmpi!(PMPI_Comm_rank(world, at)));
        let size: c_int = stored(|at| pmpi!(PMPI_Comm_size(world, at)));
        communicator::add(abi, world);
        communicator::add(abi, abi.itself.word());
        let (run, job) = run();
        active.recorder.set_rank(&RankInfo {
            rank: rank.unsigned_abs(),
            size: size.unsigned_abs(),
            run,
            job,
            library,
        });
        state::set_abi(Some(abi));
        active.recorder.make_room(active.tls);
        let null = std::ptr::null_mut();
        active.timed(SyncOp::MpiInit, null, 0, before, active.since(before));
    });
    drop(allocating);
    result
}

pub(super) fn finalises(real: impl FnOnce() -> c_int) -> c_int {
    let call = super::call();
    let result = real();
    if result == 0 {
        state::set_abi(None);
        if let Some(call) = call {
            call.mark(SyncOp::MpiFinalize);
        }
    }
    result
}

pub(super) fn aborts(code: usize, real: impl FnOnce() -> c_int) -> c_int {
    if let Some(call) = super::call() {
        call.mark(SyncOp::MpiAbort);
    }
    if let Some(recorder) = current::recorder() {
        // The trace is finished first, because the library may end the process in any way.
        let code = abi::int(code);
        let how = Finish {
            note: Some(format!("the program called MPI_Abort with code {code}")),
            ..Finish::by(EndReason::ProcessExit)
        };
        guarded(|| recorder.finish(block(), &how));
    }
    real()
}

/// Variables in which a launcher gives every rank of a job the same text.
const JOBS: [&[&str]; 3] =
    [&["OMPI_MCA_orte_hnp_uri"], &["PMIX_NAMESPACE"], &["SLURM_JOB_ID", "SLURM_STEP_ID"]];

/// A number that is the same in all ranks of the run, found without asking the other ranks, which
/// may run other programs, untraced. If the second value is false, it is only the same in those that
/// one process of the launcher has started on this host.
fn run() -> (u64, bool) {
    for names in JOBS {
        let values: Option<Vec<String>> = names.iter().map(|n| std::env::var(n).ok()).collect();
        if let Some(values) = values {
            return (checksum(values.join(" ").as_bytes()), true);
        }
    }
    // SAFETY: the call asks the kernel for a number.
    let parent = unsafe { libc::getppid() }.unsigned_abs();
    let started = memory::started(parent).unwrap_or(0);
    (checksum(format!("{parent} {started}").as_bytes()), false)
}
