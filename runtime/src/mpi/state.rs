//! The tables of the program's communicators, requests and messages.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{
    AtomicPtr, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::abi::Abi;
use super::model::{Communicator, Receive, Request};

/// The interface, once MPI is initialised and before it is finalised.
static ABI: AtomicPtr<Abi> = AtomicPtr::new(std::ptr::null_mut());
static TABLES: Mutex<Option<Tables>> = Mutex::new(None);
/// The next place in the order of sends and posted receives.
static POSTED: AtomicU64 = AtomicU64::new(0);

/// What handles stand for.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) communicators: HashMap<u64, Arc<Communicator>>,
    /// How many communicators there were with the same members, by the checksum of the members.
    pub(super) namesakes: HashMap<u64, u64>,
    /// A queue for each handle, because a library may give one handle to several requests that were
    /// complete at once.
    pub(super) requests: HashMap<u64, VecDeque<Request>>,
    /// Messages that were matched by a probe.
    pub(super) messages: HashMap<u64, Receive>,
    /// Communicators of windows.
    pub(super) windows: HashMap<u64, Arc<Communicator>>,
}

pub(super) fn abi() -> Option<&'static Abi> {
    // SAFETY: the pointer is null or points to one of the static tables.
    unsafe { ABI.load(Acquire).as_ref() }
}

/// Sets the interface: with one, calls are recorded from now on, and with `None` they are no
/// longer.
pub(super) fn set_abi(abi: Option<&'static Abi>) {
    let pointer = abi.map_or(std::ptr::null(), std::ptr::from_ref);
    ABI.store(pointer.cast_mut(), Release);
}

/// Runs `f` on the locked tables. `f` must not call a function of MPI.
pub(super) fn with<R>(f: impl FnOnce(&mut Tables) -> R) -> R {
    let mut guard: MutexGuard<'_, _> = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    f(guard.get_or_insert_default())
}

/// The next place in the order in which sends are made and receives are posted.
pub(super) fn posted() -> u64 {
    POSTED.fetch_add(1, Relaxed)
}
