//! The program's signal handlers, which run inside of [`Life::handle`], and the signals that end
//! the process, which come to [`Life::killed`]. A program that asks for the handler of a signal
//! sees its own, or the default action.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use libc::{sigaction as Action, sighandler_t, siginfo_t};

use super::fatal::{self, LAST, default_action, is_fatal};
use super::{Fatal, Life, real};
use crate::arch;
use crate::memory;

/// A signal handler that takes information.
type Handler = unsafe extern "C-unwind" fn(c_int, *mut siginfo_t, *mut c_void);

/// Bytes of the stack on which [`Life::killed`] runs: the program's own may be small, or full.
pub const STACK: usize = 1 << 20;

const SIGNALS: usize = 65;
const ADDRESS: u64 = (1 << 48) - 1;
const TAKES_INFO: u64 = 1 << 48;
const RESETS: u64 = 1 << 49;

/// The program's handler of each signal: its address, and above that its flags. It is one word
/// because a handler may be replaced while it runs. Zero is no handler.
static HANDLERS: [AtomicU64; SIGNALS] = [const { AtomicU64::new(0) }; SIGNALS];

fn entry(signal: c_int) -> Option<&'static AtomicU64> {
    HANDLERS.get(usize::try_from(signal).ok()?)
}

fn wrapper<L: Life>() -> usize {
    on_signal::<L> as *const () as usize
}

/// The action that stands for a fatal signal's default.
fn stand_in<L: Life>() -> Action {
    let mut action = default_action();
    action.sa_sigaction = on_fatal::<L> as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: the mask is live.
    unsafe { libc::sigfillset(&raw mut action.sa_mask) };
    action
}

fn is_handler(handler: usize) -> bool {
    handler != libc::SIG_DFL && handler != libc::SIG_IGN
}

/// The action to install in place of the one that the program asks for, and the word to keep. A
/// handler that runs once is always wrapped, because it leaves the default action behind, which may
/// end the process.
fn wrap<L: Life>(signal: c_int, wanted: &Action) -> (Action, u64) {
    if wanted.sa_sigaction == libc::SIG_DFL && is_fatal(signal) {
        return (stand_in::<L>(), 0);
    }
    let resets = wanted.sa_flags & libc::SA_RESETHAND != 0;
    if !is_handler(wanted.sa_sigaction) || !(L::HANDLES || resets && is_fatal(signal)) {
        return (*wanted, 0);
    }
    let mut word = wanted.sa_sigaction as u64 & ADDRESS;
    if wanted.sa_flags & libc::SA_SIGINFO != 0 {
        word |= TAKES_INFO;
    }
    if resets {
        word |= RESETS;
    }
    let mut action = *wanted;
    action.sa_sigaction = wrapper::<L>();
    action.sa_flags |= libc::SA_SIGINFO;
    (action, word)
}

/// The action that the program sees, made from the installed one and the word that was kept.
fn unwrap<L: Life>(installed: &Action, word: u64) -> Action {
    let mut seen = *installed;
    if installed.sa_sigaction == wrapper::<L>() {
        seen.sa_sigaction = usize::try_from(word & ADDRESS).unwrap_or(0);
        if word & TAKES_INFO == 0 {
            seen.sa_flags &= !libc::SA_SIGINFO;
        }
    } else if installed.sa_sigaction == on_fatal::<L> as *const () as usize {
        seen = default_action();
    }
    seen
}

/// True once handlers stand in for the defaults and wrap those of the program.
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Stands in for the default action of every signal that ends the process, and wraps the handlers
/// that are already there.
pub fn install<L: Life>() {
    if !INSTALLED.swap(true, Relaxed) {
        (1..=LAST).for_each(adopt::<L>);
    }
}

/// Wraps the handler that is already installed for a signal. A default action that ends the process
/// gets a stand-in.
fn adopt<L: Life>(signal: c_int) {
    let mut now = default_action();
    // SAFETY: the call only asks, and the pointer is to a live action.
    let known = unsafe { (real().sigaction)(signal, std::ptr::null(), &raw mut now) } == 0;
    if !known || now.sa_sigaction == libc::SIG_IGN {
        return;
    }
    let (action, word) = wrap::<L>(signal, &now);
    if action.sa_sigaction == now.sa_sigaction {
        return;
    }
    if let Some(entry) = entry(signal) {
        entry.store(word, SeqCst);
    }
    // SAFETY: the action is live.
    unsafe { (real().sigaction)(signal, &raw const action, std::ptr::null_mut()) };
}

/// Stands in for `sigaction`.
///
/// # Safety
/// The program calls it.
pub unsafe extern "C-unwind" fn sigaction<L: Life>(
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
    let wrapped = wanted.map(|wanted| wrap::<L>(signal, wanted));
    let handler = wanted.map(|wanted| wanted.sa_sigaction);
    if let Some(handler) = handler.filter(|&handler| is_handler(handler)) {
        L::install(signal, handler);
    }
    // The word is stored first, because a signal that arrives in between must find a handler.
    if let Some((_, word)) = &wrapped
        && *word != 0
    {
        entry.store(*word, SeqCst);
    }
    let mut installed = default_action();
    let new = wrapped.as_ref().map_or(std::ptr::null(), |(action, _)| std::ptr::from_ref(action));
    // SAFETY: both actions are live or null.
    let result = unsafe { (real().sigaction)(signal, new, &raw mut installed) };
    if result != 0 {
        entry.store(word_before, SeqCst);
        return result;
    }
    if let Some(old) = old {
        *old = unwrap::<L>(&installed, word_before);
    }
    result
}

/// Sets a handler with these flags. Returns the one before, or `SIG_ERR` on failure.
fn set<L: Life>(
    signal: c_int,
    handler: sighandler_t,
    flags: c_int,
    blocks_itself: bool,
) -> sighandler_t {
    let (mut wanted, mut old) = (default_action(), default_action());
    wanted.sa_sigaction = handler;
    wanted.sa_flags = flags;
    if blocks_itself {
        // SAFETY: the mask is live; a bad signal number is refused below.
        unsafe { libc::sigaddset(&raw mut wanted.sa_mask, signal) };
    }
    // SAFETY: both actions are live.
    match unsafe { sigaction::<L>(signal, &raw const wanted, &raw mut old) } {
        0 => old.sa_sigaction,
        _ => libc::SIG_ERR,
    }
}

/// `signal` of the C library: the handler stays, and system calls are restarted.
///
/// # Safety
/// The program calls it.
pub unsafe extern "C-unwind" fn signal<L: Life>(
    signal: c_int,
    handler: sighandler_t,
) -> sighandler_t {
    set::<L>(signal, handler, libc::SA_RESTART, true)
}

/// `signal` of System V: the handler runs only once.
///
/// # Safety
/// The program calls it.
pub unsafe extern "C-unwind" fn sysv_signal<L: Life>(
    signal: c_int,
    handler: sighandler_t,
) -> sighandler_t {
    set::<L>(signal, handler, libc::SA_RESETHAND | libc::SA_NODEFER, false)
}

/// `sigset` of System V, which also blocks (`SIG_HOLD`) and unblocks.
///
/// # Safety
/// The program calls it.
pub unsafe extern "C-unwind" fn sigset<L: Life>(
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
        let mut action = default_action();
        // SAFETY: the call only asks, and the pointer is to a live action.
        match unsafe { sigaction::<L>(signal, std::ptr::null(), &raw mut action) } {
            0 => action.sa_sigaction,
            _ => return libc::SIG_ERR,
        }
    } else {
        let before = set::<L>(signal, handler, 0, false);
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

/// `sigignore` of System V.
///
/// # Safety
/// The program calls it.
pub unsafe extern "C-unwind" fn sigignore<L: Life>(signal: c_int) -> c_int {
    match set::<L>(signal, libc::SIG_IGN, 0, false) {
        libc::SIG_ERR => -1,
        _ => 0,
    }
}

/// The wrapper, installed for every signal that the program handles.
unsafe extern "C-unwind" fn on_signal<L: Life>(
    signal: c_int,
    info: *mut siginfo_t,
    context: *mut c_void,
) {
    let Some(entry) = entry(signal) else { return };
    let word = entry.load(SeqCst);
    if word == 0 {
        return;
    }
    if word & RESETS != 0 && entry.compare_exchange(word, 0, SeqCst, Relaxed).is_ok() {
        // The kernel has put the default back. A default that ends the process needs its stand-in.
        adopt::<L>(signal);
    }
    let here = std::ptr::from_ref(&word).addr();
    let address = usize::try_from(word & ADDRESS).unwrap_or(0);
    L::handle(signal, context, here, || {
        // SAFETY: the program installed this function for this signal; one that does not take the
        // information ignores its arguments.
        unsafe { std::mem::transmute::<usize, Handler>(address)(signal, info, context) };
    });
}

unsafe extern "C" fn on_fatal<L: Life>(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes valid information.
    let (code, sender) = unsafe { ((*info).si_code, (*info).si_pid()) };
    let fatal = Fatal {
        signal,
        own: code <= 0 && u32::try_from(sender) == Ok(memory::process_id()),
        // SAFETY: the kernel passes the interrupted context.
        context: unsafe { &*context.cast() },
    };
    if L::is_at_home()
        && let Some(stack) = memory::map(STACK)
    {
        // SAFETY: the stack is freshly mapped, and all signals are blocked; nothing refers to it
        // afterwards.
        unsafe {
            arch::on_own_stack(stack.addr() + STACK, || L::killed(&fatal));
            memory::unmap(stack, STACK);
        }
    }
    fatal::end(signal, code);
}
