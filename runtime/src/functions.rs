//! Records the functions in [`contech_interpose::functions`].

use std::ffi::{c_int, c_uint};

use contech_interpose::functions::Family;
use contech_interpose::threads::Threads;
use contech_interpose::{exports, for_each_function};
use contech_trace::event::SyncOp;
use libc::timespec;

use crate::active::active;
use crate::channel;
use crate::condition;
use crate::real::{Ptr, Time, real};
use crate::threads::Recorded;

/// Exports each function. It passes the call on, and records it if the caller's calls are recorded.
macro_rules! record {
    ($($name:ident $(@ $version:literal)? ($($arguments:tt)*) $(-> $ret:ty)?: $does:tt $state:tt;)*) => {$(
        record!(@ $name ($($arguments)*) ($($ret)?) $does);
    )*};
    (@ $name:ident $arguments:tt $ret:tt []) => {};
    (@ $name:ident ($($arg:ident: $ty:ty),*) $ret:tt [own $module:ident]) => {
        exports! { $name [after $($arg)*] = crate::$module::$name; }
    };
    (@ $name:ident ($thread:ident: $thread_ty:ty $(, $arg:ident: $ty:ty)*) $ret:tt [join]) => {
        record!(hook $name ($thread: $thread_ty $(, $arg: $ty)*) $ret caller call => Recorded::join($thread, caller, call));
    };
    (@ $name:ident ($thread:ident: $thread_ty:ty) $ret:tt [detach]) => {
        record!(hook $name ($thread: $thread_ty) $ret _caller call => Recorded::detach($thread, call));
    };
    (@ $name:ident ($o:ident: $o_ty:ty $(, $arg:ident: $ty:ty)*) $ret:tt [create]) => {
        record!(# $name ($o: $o_ty $(, $arg: $ty)*) $ret a call => a.create($o, 0, call));
    };
    (@ $name:ident ($o:ident: $o_ty:ty $(, $arg:ident: $ty:ty)*) $ret:tt [create with $number:ident]) => {
        record!(# $name ($o: $o_ty $(, $arg: $ty)*) $ret a call => a.create($o, u64::from($number), call));
    };
    (@ $name:ident ($o:ident: $o_ty:ty) $ret:tt [destroy]) => {
        record!(# $name ($o: $o_ty) $ret a call => a.destroy($o, call));
    };
    (@ $name:ident ($o:ident: $o_ty:ty $(, $arg:ident: $ty:ty)*) $ret:tt [acquire $family:ident $op:ident $try:ident]) => {
        record!(# $name ($o: $o_ty $(, $arg: $ty)*) $ret a call => {
            // SAFETY: the caller passes a valid object.
            a.acquire_free(Family::$family, SyncOp::$op, $o, || unsafe { (real().$try)($o) }, call)
        });
    };
    (@ $name:ident ($o:ident: $o_ty:ty $(, $arg:ident: $ty:ty)*) $ret:tt [acquire $family:ident $op:ident]) => {
        record!(# $name ($o: $o_ty $(, $arg: $ty)*) $ret a call => a.acquire(Family::$family, SyncOp::$op, $o, call));
    };
    (@ $name:ident ($o:ident: $o_ty:ty) $ret:tt [attempt $family:ident $op:ident]) => {
        record!(# $name ($o: $o_ty) $ret a call => a.attempt(Family::$family, SyncOp::$op, $o, call));
    };
    (@ $name:ident ($o:ident: $o_ty:ty) $ret:tt [release $op:ident]) => {
        record!(# $name ($o: $o_ty) $ret a call => a.release(SyncOp::$op, $o, call));
    };
    (@ $name:ident ($o:ident: $o_ty:ty, $mutex:ident: $m_ty:ty $(, $arg:ident: $ty:ty)*) $ret:tt [wait]) => {
        record!(# $name ($o: $o_ty, $mutex: $m_ty $(, $arg: $ty)*) $ret a call => condition::wait(a, $o, $mutex, call));
    };
    (@ $name:ident $arguments:tt $ret:tt [sleep]) => {
        record!(# $name $arguments $ret a call => a.sleep(call));
    };
    (@ $name:ident ($o:ident: $o_ty:ty $(, $arg:ident: $ty:ty)*) $ret:tt [send]) => {
        record!(by channel::theirs, $name ($o: $o_ty $(, $arg: $ty)*) $ret a call => channel::send(a, $o, call));
    };
    (@ $name:ident ($o:ident: $o_ty:ty $(, $arg:ident: $ty:ty)*) $ret:tt [receive]) => {
        record!(by channel::theirs, $name ($o: $o_ty $(, $arg: $ty)*) $ret a call => channel::receive(a, $o, call));
    };
    (@ $name:ident $arguments:tt $ret:tt [thread $does:ident $($given:tt)*]) => {
        record!(by channel::theirs, $name $arguments $ret a call => channel::$does(a, $($given,)* call));
    };
    (@ $name:ident $arguments:tt $ret:tt [file $does:ident $($given:ident)*]) => {
        record!(by channel::theirs, $name $arguments $ret _a call => channel::$does($($given,)* call));
    };
    (@ $name:ident $arguments:tt $ret:tt [stream $does:ident $stream:ident]) => {
        record!(unless channel::has_no_streams, $name $arguments $ret a call => channel::$does(a, $stream, call));
    };
    (@ $name:ident $arguments:tt $ret:tt [signal $number:expr]) => {
        record!(by channel::theirs, $name $arguments $ret a call => {
            channel::sends_signal(a, $number);
            call()
        });
    };
    (@ $name:ident $arguments:tt $ret:tt [take]) => {
        record!(by channel::theirs, $name $arguments $ret a call => {
            let signal = a.sleep(call);
            channel::signal_came(signal);
            signal
        });
    };
    (# $($rest:tt)*) => { record!(by active, $($rest)*); };
    // As long as the condition holds, the call costs a few instructions.
    (unless $none:path, $name:ident ($($arg:ident: $ty:ty),*) ($($ret:ty)?) $a:ident $call:ident => $recorded:expr) => {
        const _: () = {
            #[cold]
            unsafe extern "C-unwind" fn recorded($($arg: $ty,)* caller: usize) $(-> $ret)? {
                // SAFETY: the caller's arguments are passed on.
                let $call = || unsafe { (real().$name)($($arg),*) };
                match channel::theirs(caller) {
                    Some($a) => $recorded,
                    None => $call(),
                }
            }
            unsafe extern "C-unwind" fn hook($($arg: $ty,)* caller: usize) $(-> $ret)? {
                if $none() {
                    // SAFETY: the caller's arguments are passed on.
                    return unsafe { (real().$name)($($arg),*) };
                }
                // SAFETY: as above.
                unsafe { recorded($($arg,)* caller) }
            }
            exports! { $name [after $($arg)*] = hook; }
        };
    };
    (by $by:path, $name:ident $arguments:tt $ret:tt $a:ident $call:ident => $recorded:expr) => {
        record!(hook $name $arguments $ret caller $call => match $by(caller) {
            Some($a) => $recorded,
            None => $call(),
        });
    };
    (hook $name:ident ($($arg:ident: $ty:ty),*) ($($ret:ty)?) $caller:ident $call:ident => $does:expr) => {
        const _: () = {
            unsafe extern "C-unwind" fn hook($($arg: $ty,)* $caller: usize) $(-> $ret)? {
                // SAFETY: the caller's arguments are passed on.
                let $call = || unsafe { (real().$name)($($arg),*) };
                $does
            }
            exports! { $name [after $($arg)*] = hook; }
        };
    };
}

for_each_function!(record!);
