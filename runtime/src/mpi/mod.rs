//! MPI: records the calls of the program, around those of the MPI library.
//!
//! `libcontech_mpi.so`, which the drivers link if a program is linked with an MPI, defines
//! `MPI_Send` and `PMPI_Send`, and so on, and leads them here. The functions here call the
//! library's own `PMPI_` ones. Both names are taken because the Fortran bindings of Open MPI call
//! `PMPI_Send`, and those of MPICH call `MPI_Send`. All bindings come here with C handles.
//!
//! Handles are passed through as plain words. There are two ABIs (Open MPI's, and MPICH's, which
//! Intel MPI and MVAPICH share). The few constants that differ between them, and the layout of the
//! status, are in [`abi`] and chosen when MPI is initialised. So no code of this recorder is
//! compiled against an `mpi.h`, and it does not matter how a build finds its MPI (a wrapper, CMake,
//! flags).
//!
//! What is recorded says enough to match messages afterwards: see [`contech_trace::mpi`].

mod abi;
mod collective;
mod communicator;
mod entry;
mod functions;
mod message;
mod request;
mod setup;
mod state;
mod wait;

use std::cell::Cell;
use std::ffi::c_int;

use contech_runtime_core::append::Sync;
use contech_trace::event::SyncOp;

use self::abi::Abi;
use crate::active::{Active, recording_if};

thread_local! {
    /// Whether this thread is in a call of MPI: calls that MPI makes itself are not the program's.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// Exists while the thread is in a call that the program made.
struct Within;

impl Within {
    /// `None` in a call that MPI makes itself.
    fn outermost() -> Option<Self> {
        (!WITHIN.replace(true)).then(|| Within)
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        WITHIN.set(false);
    }
}

/// A call of the program that is recorded.
pub(crate) struct Call {
    active: Active,
    abi: &'static Abi,
    before: u64,
    /// Keeps what MPI allocates for itself out of the recording.
    _allocating: contech_runtime_core::tls::Nested<'static>,
    _within: Within,
}

/// The current call, if it is to be recorded: MPI is initialised, and the program makes the call.
fn call() -> Option<Call> {
    let abi = state::abi()?;
    let active = recording_if(|_| true)?;
    let within = Within::outermost()?;
    active.recorder.make_room(active.tls);
    Some(Call {
        active,
        abi,
        before: active.now(),
        _allocating: active.tls.allocating(),
        _within: within,
    })
}

/// Calls `real`, and if that succeeds, lets `then` note what it has made.
fn after(real: impl FnOnce() -> c_int, then: impl FnOnce(&Call)) -> c_int {
    let result = real();
    if let (0, Some(call)) = (result, call()) {
        then(&call);
    }
    result
}

/// Takes note of what a call is about to do by `before`, which may say nothing. Then calls `real`,
/// and if that succeeds, lets `then` record it.
fn around<T>(
    before: impl FnOnce(&Call) -> Option<T>,
    real: impl FnOnce() -> c_int,
    then: impl FnOnce(&Call, T),
) -> c_int {
    let Some(call) = call() else { return real() };
    let noted = before(&call);
    let result = real();
    if let (0, Some(noted)) = (result, noted) {
        then(&call, noted);
    }
    result
}

impl Call {
    /// Records an event that began with the call and ends now.
    fn event(&self, op: SyncOp, object: u64, ticket: u64, aux: u64) {
        let duration = self.active.since(self.before);
        self.at(op, object, ticket, aux, self.before, duration);
    }

    /// Records an event at the end of the call, which took `(before, duration)`. Further events of
    /// the call take no time.
    fn further(&self, op: SyncOp, object: u64, ticket: u64, aux: u64, took: &mut (u64, u64)) {
        self.at(op, object, ticket, aux, took.0, took.1);
        *took = (took.0 + took.1, 0);
    }

    /// Beginning and duration of the call, which ends now.
    fn took(&self) -> (u64, u64) {
        (self.before, self.active.since(self.before))
    }

    fn mark(&self, mark: SyncOp) {
        self.event(mark, 0, 0, 0);
    }

    fn at(&self, op: SyncOp, object: u64, ticket: u64, aux: u64, before: u64, duration: u64) {
        // Objects are hashes of 48 bits, or null.
        let object = usize::try_from(object).unwrap_or(0);
        let event = Sync { op, object, ticket, aux, before, duration };
        self.active.recorder.sync(self.active.tls, event);
    }
}
