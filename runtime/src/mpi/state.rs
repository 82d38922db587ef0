//! What is known of the program's communicators, requests and messages.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{
    AtomicPtr, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::abi::Abi;
use super::model::{Communicator, Request};

/// The interface, once MPI is initialised and before it is finalised.
static ABI: AtomicPtr<Abi> = AtomicPtr::new(std::ptr::null_mut());
static TABLES: Mutex<Option<Tables>> = Mutex::new(None);
/// Places in the orders of sends and of receives posted.
static POSTED: AtomicU64 = AtomicU64::new(0);

/// By handle.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) communicators: HashMap<u64, Arc<Communicator>>,
    /// How many communicators there were of the same members.
    pub(super) namesakes: HashMap<u64, u64>,
    /// A library may give one handle to several requests that were complete at once.
    pub(super) requests: HashMap<u64, VecDeque<Request>>,
    /// Messages that were matched by a probe.
    pub(super) messages: HashMap<u64, Request>,
    /// Communicators of windows.
    pub(super) windows: HashMap<u64, Arc<Communicator>>,
}

pub(super) fn abi() -> Option<&'static Abi> {
    // SAFETY: the pointer is null or of one of the static tables.
    unsafe { ABI.load(Acquire).as_ref() }
}

/// From now on calls are recorded, or are no longer.
pub(super) fn set_abi(abi: Option<&'static Abi>) {
    let pointer = abi.map_or(std::ptr::null(), std::ptr::from_ref);
    ABI.store(pointer.cast_mut(), Release);
}

/// The tables, locked; no function of MPI is called meanwhile.
pub(super) fn with<R>(f: impl FnOnce(&mut Tables) -> R) -> R {
    let mut guard: MutexGuard<'_, _> = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    f(guard.get_or_insert_default())
}

/// The next place in the order in which sends are made and receives are posted.
pub(super) fn posted() -> u64 {
    POSTED.fetch_add(1, Relaxed)
}
