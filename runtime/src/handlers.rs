//! The program's signal handlers. Each runs inside a wrapper that gives the handler's records a place of their own. A
//! program that asks for the handler of a signal sees its own, never the wrapper.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use contech_guest::arch;
use contech_guest::fatal::{LAST, is_fatal};
use contech_runtime_core::Recorder;
use contech_runtime_core::handler::{Entered, Entry};
use libc::{sigaction as Action, sighandler_t, siginfo_t};

use crate::channel;
use crate::current;
use crate::fatal;
use crate::real::{Handler, Ptr, real};
use crate::tls::block;

const SIGNALS: usize = 65;
const ADDRESS: u64 = (1 << 48) - 1;
const TAKES_INFO: u64 = 1 << 48;
const RESETS: u64 = 1 << 49;

/// The program's handler of each signal: its address, and above that its flags. It is one word because a handler may be
/// replaced while it runs. Zero is no handler.
static HANDLERS: [AtomicU64; SIGNALS] = [const { AtomicU64::new(0) }; SIGNALS];

fn entry(signal: c_int) -> Option<&'static AtomicU64> {
    HANDLERS.get(usize::try_from(signal).ok()?)
}

fn wrapper() -> usize {
    on_signal as *const () as usize
}

fn is_handler(handler: usize) -> bool {
    handler != libc::SIG_DFL && handler != libc::SIG_IGN
}

/// The action to install in place of the one that the program asks for, and the word to keep.
fn wrap(signal: c_int, wanted: &Action) -> (Action, u64) {
    if wanted.sa_sigaction == libc::SIG_DFL && is_fatal(signal) {
        return (fatal::action(), 0);
    }
    if !is_handler(wanted.sa_sigaction) {
        return (*wanted, 0);
    }
    let mut word = wanted.sa_sigaction as u64 & ADDRESS;
    if wanted.sa_flags & libc::SA_SIGINFO != 0 {
        word |= TAKES_INFO;
    }
    if wanted.sa_flags & libc::SA_RESETHAND != 0 {
        word |= RESETS;
    }
    let mut action = *wanted;
    action.sa_sigaction = wrapper();
    action.sa_flags |= libc::SA_SIGINFO;
    (action, word)
}

/// The action that the program sees, made from the installed one and the word that was kept.
fn unwrap(installed: &Action, word: u64) -> Action {
    let mut seen = *installed;
    if installed.sa_sigaction == wrapper() {
        seen.sa_sigaction = usize::try_from(word & ADDRESS).unwrap_or(0);
        if word & TAKES_INFO == 0 {
            seen.sa_flags &= !libc::SA_SIGINFO;
        }
    } else if installed.sa_sigaction == fatal::action().sa_sigaction {
        // SAFETY: an action is plain data for which zero is a value, the default.
        seen = unsafe { std::mem::zeroed() };
    }
    seen
}

/// True once handlers stand in for the defaults and wrap those of the program.
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Stands in for the default action of every signal that ends the process, and wraps the handlers that are already
/// there.
pub(crate) fn install() {
    if !INSTALLED.swap(true, Relaxed) {
        (1..=LAST).for_each(adopt);
    }
}

/// Wraps the handler that is already installed for a signal. A default action that ends the process gets a stand-in.
pub(crate) fn adopt(signal: c_int) {
    // SAFETY: zero is a value of an action, as in `unwrap`.
    let mut now: Action = unsafe { std::mem::zeroed() };
    // SAFETY: the call only asks, and the pointer is to a live action.
    let known = unsafe { (real().sigaction)(signal, std::ptr::null(), &raw mut now) } == 0;
    if !known || now.sa_sigaction == libc::SIG_IGN {
        return;
    }
    let (action, word) = wrap(signal, &now);
    if action.sa_sigaction == now.sa_sigaction {
        return;
    }
    if let Some(entry) = entry(signal) {
        entry.store(word, SeqCst);
    }
    // SAFETY: the action is live.
    unsafe { (real().sigaction)(signal, &raw const action, std::ptr::null_mut()) };
}

pub(crate) unsafe extern "C-unwind" fn sigaction(
    signal: c_int,
    wanted: *const Action,
    old: *mut Action,
) -> c_int {
    let entry = match entry(signal) {
        Some(entry) if INSTALLED.load(Relaxed) => entry,
        // SAFETY: the caller's arguments are passed on.
        _ => return unsafe { (real().sigaction)(signal, wanted, old) },
    };
    // SAFETY: each of the caller's pointers is null or points to an action.
    let (wanted, old) = unsafe { (wanted.as_ref(), old.as_mut()) };
    let word_before = entry.load(SeqCst);
    let wrapped = wanted.map(|wanted| wrap(signal, wanted));
    let handler = wanted.map(|wanted| wanted.sa_sigaction);
    if let Some(handler) = handler.filter(|&handler| is_handler(handler)) {
        channel::installs_handler(signal, handler);
    }
    // The word is stored first, because a signal that arrives in between must find a handler.
    if let Some((_, word)) = &wrapped
        && *word != 0
    {
        entry.store(*word, SeqCst);
    }
    // SAFETY: zero is a value of an action, as in `unwrap`.
    let mut installed: Action = unsafe { std::mem::zeroed() };
    let new = wrapped
        .as_ref()
        .map_or(std::ptr::null(), |(action, _)| std::ptr::from_ref(action));
    // SAFETY: both actions are live or null.
    let result = unsafe { (real().sigaction)(signal, new, &raw mut installed) };
    if result != 0 {
        entry.store(word_before, SeqCst);
        return result;
    }
    if let Some(old) = old {
        *old = unwrap(&installed, word_before);
    }
    result
}

/// Sets a handler with these flags. Returns the one before, or `SIG_ERR` on failure.
fn set(signal: c_int, handler: sighandler_t, flags: c_int, blocks_itself: bool) -> sighandler_t {
    // SAFETY: zero is a value of an action, as in `unwrap`.
    let (mut wanted, mut old): (Action, Action) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    wanted.sa_sigaction = handler;
    wanted.sa_flags = flags;
    if blocks_itself {
        // SAFETY: the mask is live; a bad signal number is refused below.
        unsafe { libc::sigaddset(&raw mut wanted.sa_mask, signal) };
    }
    // SAFETY: both actions are live.
    match unsafe { sigaction(signal, &raw const wanted, &raw mut old) } {
        0 => old.sa_sigaction,
        _ => libc::SIG_ERR,
    }
}

/// `signal` of the C library: the handler stays, and system calls are restarted.
pub(crate) unsafe extern "C-unwind" fn signal(
    signal: c_int,
    handler: sighandler_t,
) -> sighandler_t {
    set(signal, handler, libc::SA_RESTART, true)
}

/// `signal` of System V: the handler runs only once.
pub(crate) unsafe extern "C-unwind" fn sysv_signal(
    signal: c_int,
    handler: sighandler_t,
) -> sighandler_t {
    set(
        signal,
        handler,
        libc::SA_RESETHAND | libc::SA_NODEFER,
        false,
    )
}

/// `sigset` of System V, which also blocks (`SIG_HOLD`) and unblocks.
pub(crate) unsafe extern "C-unwind" fn sigset(
    signal: c_int,
    handler: sighandler_t,
) -> sighandler_t {
    const HOLD: sighandler_t = 2;
    // SAFETY: masks are plain data.
    let (mut mask, mut old): (libc::sigset_t, libc::sigset_t) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    // SAFETY: the masks are live.
    if unsafe { libc::sigaddset(&raw mut mask, signal) } != 0 {
        return libc::SIG_ERR;
    }
    let change = |how, old| {
        // SAFETY: the masks are live or null.
        unsafe { libc::pthread_sigmask(how, &raw const mask, old) }
    };
    let before = if handler == HOLD {
        change(libc::SIG_BLOCK, &raw mut old);
        // SAFETY: zero is a value of an action, as in `unwrap`.
        let mut action: Action = unsafe { std::mem::zeroed() };
        // SAFETY: the call only asks, and the pointer is to a live action.
        match unsafe { sigaction(signal, std::ptr::null(), &raw mut action) } {
            0 => action.sa_sigaction,
            _ => return libc::SIG_ERR,
        }
    } else {
        let before = set(signal, handler, 0, false);
        if before == libc::SIG_ERR {
            return before;
        }
        change(libc::SIG_UNBLOCK, &raw mut old);
        before
    };
    // SAFETY: the mask is live.
    match unsafe { libc::sigismember(&raw const old, signal) } {
        1 => HOLD,
        _ => before,
    }
}

pub(crate) unsafe extern "C-unwind" fn sigignore(signal: c_int) -> c_int {
    match set(signal, libc::SIG_IGN, 0, false) {
        libc::SIG_ERR => -1,
        _ => 0,
    }
}

/// Takes back the level of a handler when the handler returns, or when an exception or the end of its thread leaves it.
/// (On Linux the unwinding of a thread's end runs this, as it runs the destructors of C++.)
struct Leave {
    recorder: &'static Recorder,
    entered: Entered,
    returned: bool,
}

impl Drop for Leave {
    fn drop(&mut self) {
        self.recorder
            .leave_handler(block(), &self.entered, self.returned);
    }
}

/// # Safety
/// The kernel made the context.
unsafe fn entry_of(recorder: &Recorder, context: Ptr, here: usize) -> Entry {
    // SAFETY: the kernel passes the interrupted context, which says which alternate stack there is and where the code
    // was.
    let context = unsafe { &*context.cast::<libc::ucontext_t>() };
    let (stack, at) = (context.uc_stack, arch::program_counter(context));
    let low = stack.ss_sp.addr();
    let stack = (low, low.wrapping_add(stack.ss_size));
    // System calls are made in the C library, whose range is among those of the callers. After a jump through a wild
    // pointer the program may be anywhere.
    // SAFETY: the address is within an object that stays loaded.
    let in_call = recorder.callers.contains(at) && unsafe { arch::is_in_system_call(at) };
    Entry {
        mark: here,
        stack: (stack.0..stack.1).contains(&here).then_some(stack),
        registers: arch::registers(context),
        in_call,
    }
}

/// The wrapper, installed for every signal that the program handles.
unsafe extern "C-unwind" fn on_signal(signal: c_int, info: *mut siginfo_t, context: Ptr) {
    let Some(entry) = entry(signal) else { return };
    let word = entry.load(SeqCst);
    if word == 0 {
        return;
    }
    if word & RESETS != 0 && entry.compare_exchange(word, 0, SeqCst, Relaxed).is_ok() {
        // The kernel has put the default back. A default that ends the process needs its stand-in.
        adopt(signal);
    }
    let here = std::ptr::from_ref(&word).addr();
    let mut leave = current::recorder().map(|recorder| {
        // SAFETY: the kernel passed the context.
        let entry = unsafe { entry_of(recorder, context, here) };
        Leave {
            recorder,
            entered: recorder.enter_handler(block(), &entry),
            returned: false,
        }
    });
    if leave.is_some() {
        channel::signal_came(signal);
    }
    let address = usize::try_from(word & ADDRESS).unwrap_or(0);
    // SAFETY: the program installed this function for this signal; one that does not take the
    // information ignores its arguments.
    unsafe { std::mem::transmute::<usize, Handler>(address)(signal, info, context) };
    if let Some(leave) = &mut leave {
        leave.returned = true;
    }
}
