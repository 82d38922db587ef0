//! Records waits for requests, and tests of whether they are complete.

use std::ffi::c_int;

use contech_trace::event::SyncOp;

use super::abi::{UNDEFINED, int, int_at};
use super::entry::pmpi;
use super::request::may_be_cancelled;
use super::state::Request;
use super::{Call, call};

/// The requests of a call: their handles before the call, and the address of their statuses.
struct Waited {
    handles: Vec<u64>,
    /// Address of the program's statuses or of `own`; 0 if none are needed.
    statuses: usize,
    /// Statuses for a program that passes none.
    own: Vec<u64>,
    /// The call makes a task even if it only completes sends.
    waits: bool,
}

impl Call {
    /// Prepares the call. `statuses` is what the program passed.
    fn waited(&self, count: usize, requests: usize, statuses: usize, waits: bool) -> Waited {
        let count = usize::try_from(int(count)).unwrap_or(0);
        let handles: Vec<u64> = (0..count).map(|at| self.abi.handle_in(requests, at)).collect();
        let mut waited = Waited { handles, statuses, own: Vec::new(), waits };
        if statuses == self.abi.ignore {
            waited.statuses = 0;
            if may_be_cancelled() || waited.handles.iter().any(|h| self.needs_status(*h)) {
                waited.own = vec![0; count.max(1) * 4];
                waited.statuses = waited.own.as_mut_ptr().expose_provenance();
            }
        }
        waited
    }

    fn needs_status(&self, handle: u64) -> bool {
        match self.known(handle) {
            Some(Request::Receive(message) | Request::Persistent { send: false, message, .. }) => {
                self.is_wild(message.source, message.tag)
            }
            _ => false,
        }
    }

    /// The address to pass as statuses.
    fn passed(&self, waited: &Waited) -> usize {
        if waited.statuses == 0 { self.abi.ignore } else { waited.statuses }
    }

    /// Records the requests that are complete after the call. Each comes with the place of its
    /// status.
    fn completed(&self, waited: &Waited, which: impl Iterator<Item = (usize, usize)>) {
        let mut took = self.took();
        let (mut any, mut recorded) = (false, false);
        for (at, place) in which {
            let Some(handle) = waited.handles.get(at) else {
                continue;
            };
            if *handle == self.abi.handle(self.abi.no_request.word()) {
                continue;
            }
            any = true;
            let status = match waited.statuses {
                0 => 0,
                first => first + place * self.abi.status_bytes,
            };
            recorded |= self.complete(*handle, status, &mut took);
        }
        if any && !recorded && waited.waits {
            self.further(SyncOp::MpiWait, 0, 0, 0, &mut took);
        }
    }
}

/// Calls `real` with the statuses that it is to fill. Then takes the requests that `which`, given
/// their number, returns as complete.
fn around<I: Iterator<Item = (usize, usize)>>(
    (count, requests, statuses): (usize, usize, usize),
    waits: bool,
    real: impl FnOnce(usize) -> c_int,
    which: impl FnOnce(usize) -> I,
) -> c_int {
    let Some(call) = call() else {
        return real(statuses);
    };
    let waited = call.waited(count, requests, statuses, waits);
    let result = real(call.passed(&waited));
    if result == 0 {
        call.completed(&waited, which(waited.handles.len()));
    }
    result
}

/// The first `count` requests.
fn all(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).map(|at| (at, at))
}

/// All of the requests if the int at `flag` is not 0, otherwise none.
fn flagged(flag: usize, count: usize) -> usize {
    if int_at(flag, 0) != 0 { count } else { 0 }
}

/// The request whose index is at this address.
fn one(index: usize) -> impl Iterator<Item = (usize, usize)> {
    usize::try_from(int_at(index, 0)).ok().map(|at| (at, 0)).into_iter()
}

/// The requests whose indices are at `indices`; the int at `count` is their number.
fn some(count: usize, indices: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = match int_at(count, 0) {
        UNDEFINED => 0,
        n => usize::try_from(n).unwrap_or(0),
    };
    (0..count).filter_map(move |place| Some((usize::try_from(int_at(indices, place)).ok()?, place)))
}

/// The functions that wait for requests or test them: their arguments but the last, the number of
/// requests and where they are, whether the function waits, and which requests have ended.
macro_rules! completions {
    ($($name:ident $real:ident ($($argument:ident)*) $count:tt $requests:ident $waits:literal $which:expr;)*) => {$(
        pub(crate) extern "C-unwind" fn $name($($argument: usize,)* statuses: usize) -> c_int {
            around(
                ($count, $requests, statuses),
                $waits,
                |statuses| pmpi!($real($($argument,)* statuses)),
                $which,
            )
        }
    )*};
}

completions! {
    wait PMPI_Wait (request) 1 request true all;
    waitall PMPI_Waitall (count requests) count requests true all;
    waitany PMPI_Waitany (count requests index) count requests true |_| one(index);
    waitsome PMPI_Waitsome (count requests done indices) count requests true |_| some(done, indices);
    test PMPI_Test (request flag) 1 request false |count| all(flagged(flag, count));
    testall PMPI_Testall (count requests flag) count requests false |count| all(flagged(flag, count));
    testany PMPI_Testany (count requests index flag) count requests false |_| (0..flagged(flag, 1)).flat_map(move |_| one(index));
    testsome PMPI_Testsome (count requests done indices) count requests false |_| some(done, indices);
}
