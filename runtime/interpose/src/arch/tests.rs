//! Tests of what every port defines.

use std::cell::Cell;
use std::ffi::c_int;
use std::mem::offset_of;
use std::sync::atomic::{
    AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst,
};

use super::*;
use crate::memory::{self, Errno};
use crate::{exports, flush_stubs, thread_block};

#[test]
fn the_clock_goes_on_at_a_rate() {
    let before = ticks();
    in_order();
    std::thread::sleep(std::time::Duration::from_millis(2));
    let passed = ticks() - before;
    let hz = stated_hz();
    assert!(passed > 0 && (hz == 0 || passed > hz / 1000), "{passed} {hz}");
}

#[test]
fn each_thread_has_a_pointer_of_its_own() {
    let here = thread_pointer();
    assert_eq!(here, thread_pointer());
    assert_ne!(Ok(here), std::thread::spawn(thread_pointer).join().map_err(drop));
}

#[test]
fn a_jump_goes_to_the_stack_pointer_of_the_call() {
    unsafe extern "C" {
        fn _setjmp(buffer: *mut u64) -> c_int;
    }
    let mut buffer = [0; 64];
    // SAFETY: the buffer is larger than a jump buffer, and nothing jumps to it.
    let target = unsafe {
        _setjmp(buffer.as_mut_ptr());
        jump_target(buffer.as_ptr())
    };
    let here = (&raw const buffer).addr();
    assert!(target.abs_diff(here) < 4096, "{target:x} {here:x}");
}

#[test]
fn a_handler_sees_the_registers_and_the_place_of_what_it_interrupted() {
    static SEEN: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
    unsafe extern "C" fn handler(_: c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the kernel passes the context of the interrupted code.
        let context = unsafe { &*context.cast::<libc::ucontext_t>() };
        let here = (&raw const *context).addr();
        let near = registers(context).iter().filter(|r| r.abs_diff(here) < 1 << 16).count();
        SEEN[0].store(near, SeqCst);
        // SAFETY: the interrupted code is mapped.
        SEEN[1].store(usize::from(unsafe { is_in_system_call(program_counter(context)) }), SeqCst);
    }
    // SAFETY: the action and the mask live through the calls, and the handler only reads and
    // stores.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        libc::sigaction(libc::SIGURG, &raw const action, std::ptr::null_mut());
        let thread = libc::syscall(libc::SYS_gettid);
        libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, libc::SIGURG);
    }
    assert!(SEEN[0].load(SeqCst) > 0, "the stack pointer is among the registers");
    assert_eq!(SEEN[1].load(SeqCst), 1, "the signal came at the end of a system call");
}

/// An address in the calling function's stack frame, or near it.
#[inline(never)]
fn frame() -> usize {
    let here = 0u8;
    std::hint::black_box(&raw const here).addr()
}

#[test]
fn a_function_runs_on_another_stack_and_comes_back() {
    let stack = memory::map(OWN_STACK).expect("memory").addr();
    let is_there = |at: usize| (stack..stack + OWN_STACK).contains(&at);
    let top = stack + OWN_STACK;
    // SAFETY: the stack is new, and nobody else knows it.
    let frames = unsafe { on_own_stack(top, || [frame(), on_own_stack(top, frame)]) };
    assert!(frames.into_iter().all(is_there));
    // SAFETY: there is none.
    assert!(!is_there(unsafe { on_own_stack(0, frame) }));
    let at = |address| std::ptr::without_provenance_mut::<u8>(address);
    block().stack.store(top, Relaxed);
    assert_eq!(flush(at(100)).addr(), 101);
    assert!(is_there(FRAME.get()));
    // SAFETY: as above.
    unsafe { on_own_stack(top, || check_flush(at(200))) };
    assert!(is_there(FRAME.get()));
    block().stack.store(0, Relaxed);
    flush(at(100));
    assert!(!is_there(FRAME.get()));
    // SAFETY: as above.
    let panics = || unsafe { on_own_stack(top, || std::panic::panic_any(7)) };
    let panicked = std::panic::catch_unwind(panics).expect_err("a panic");
    assert_eq!(panicked.downcast_ref(), Some(&7));
}

#[test]
fn words_change_at_once() {
    let (left, next) = (AtomicI64::new(10), AtomicUsize::new(7));
    subtract_here(&left, 3);
    assert_eq!((fetch_add_here(&next, 5), next.load(Relaxed)), (7, 12));
    assert_eq!(left.load(Relaxed), 7);
    let word = AtomicU64::new(3);
    add_here(&word, 8);
    add_here(&word, 1u64.wrapping_neg());
    assert_eq!(word.load(Relaxed), 10);
}

#[test]
fn a_result_is_passed_on_and_a_failure_is_errno() {
    let call = |number, [a, b, c, d, e, f]: [usize; 6]| {
        // SAFETY: the calls take no pointers.
        unsafe { system_call(number, a, b, c, d, e, f) }
    };
    assert_eq!(call(libc::SYS_getpid, [0; 6]), i64::from(std::process::id()));
    assert_eq!(call(libc::SYS_close, [usize::MAX, 0, 0, 0, 0, 0]), -1);
    assert_eq!(Errno::get(), libc::EBADF);
}

#[test]
fn all_six_arguments_of_a_system_call_arrive() {
    let length = 4096;
    // SAFETY: the call makes a new mapping, whose file and offset are the last two arguments.
    let refused = unsafe { system_call(libc::SYS_mmap, 0, length, 1, 2, usize::MAX, 1) };
    assert_eq!((refused, Errno::get()), (-1, libc::EINVAL), "an odd offset");
    // SAFETY: the call makes a new mapping.
    let at = unsafe { system_call(libc::SYS_mmap, 0, length, 1, 0x22, usize::MAX, 0) };
    let at = usize::try_from(at).expect("a mapping");
    // SAFETY: nothing refers to the mapping.
    let gone = unsafe { system_call(libc::SYS_munmap, at, length, 0, 0, 0, 0) };
    assert_eq!(gone, 0);
}

/// What the stubs of the tests use of a thread.
#[repr(C)]
struct Block {
    cursor: AtomicUsize,
    limit: AtomicUsize,
    role: AtomicU32,
    caller: AtomicUsize,
    stack: AtomicUsize,
}

thread_block! {
    /// The block of the tests' threads.
    static contech_interpose_test_block: Block;
    /// The calling thread's.
    fn block();
}

#[test]
fn each_thread_has_a_block_that_begins_as_zero() {
    block().cursor.store(5, Relaxed);
    let other = std::thread::spawn(|| block().cursor.swap(6, Relaxed)).join();
    assert_eq!((other.unwrap(), block().cursor.load(Relaxed)), (0, 5));
}

extern "C" fn sum(a: usize, b: usize, c: usize) -> usize {
    a + 10 * b + 100 * c
}
extern "C" fn second(_: usize, caller: usize) -> usize {
    caller
}
extern "C" fn from_block(a: usize) -> usize {
    a + block().caller.load(Relaxed)
}
extern "C" fn chooses(a: usize) -> usize {
    if a == 1 { sum as *const () as usize } else { second as *const () as usize }
}
extern "C" fn destroys() {
    DESTROYED.fetch_add(1, Relaxed);
    std::hint::black_box(sum(1, 2, 3));
}

static DESTROYED: AtomicUsize = AtomicUsize::new(0);

exports! {
    contech_interpose_test_plain = sum;
    contech_interpose_test_after [after a] = second;
    contech_interpose_test_in_block [caller in contech_interpose_test_block offset_of!(Block, caller)] = from_block;
    contech_interpose_test_before [before] = chooses;
    contech_interpose_test_keeping [keeping] = destroys;
}

type Function = extern "C" fn(usize, usize, usize) -> usize;

/// An exported stub as a function of three arguments.
fn stub(stub: extern "C-unwind" fn()) -> Function {
    // SAFETY: the stubs pass three words on to functions that take them, or fewer.
    unsafe { std::mem::transmute::<extern "C-unwind" fn(), Function>(stub) }
}

/// Whether an address is in the function of this test, which is shorter than a page.
fn is_near(address: usize, function: fn()) -> bool {
    address.wrapping_sub(function as *const () as usize) < 4096
}

#[test]
fn stubs_pass_arguments_on_and_add_their_caller() {
    fn caller() {
        let plain = stub(contech_interpose_test_plain);
        assert_eq!(plain(1, 2, 3), 321);
        for (name, one) in [
            ("after", contech_interpose_test_after as extern "C-unwind" fn()),
            ("block", contech_interpose_test_in_block),
        ] {
            let told = stub(one)(0, 2, 3);
            assert!(is_near(told, caller), "{name}: {told:x}");
        }
        assert_eq!(stub(contech_interpose_test_before)(1, 2, 3), 321);
        assert_eq!(stub(contech_interpose_test_before)(2, 4, 3), 4);
    }
    caller();
}

thread_local! {
    /// The cursors that the slow paths were called with.
    static CALLED: Cell<[usize; 2]> = const { Cell::new([0; 2]) };
    /// An address in the stack frame of the last one.
    static FRAME: Cell<usize> = const { Cell::new(0) };
}

fn called(path: usize, cursor: *mut u8) -> *mut u8 {
    let mut all = CALLED.get();
    all[path] = cursor.addr();
    CALLED.set(all);
    FRAME.set(frame());
    cursor.wrapping_add(path + 1)
}
extern "C" fn flush_slow(cursor: *mut u8) -> *mut u8 {
    called(0, cursor)
}
extern "C" fn flush_check(cursor: *mut u8) -> *mut u8 {
    called(1, cursor)
}

/// The role of a thread that has ended, and the scratch memory before the limit.
const ENDED: u32 = 2;
const SCRATCH: usize = 70_000;

flush_stubs! {
    contech_interpose_test_block;
    flush {
        role = const offset_of!(Block, role),
        stack = const offset_of!(Block, stack),
        ended = const ENDED,
        scratch = const SCRATCH,
        cursor = const offset_of!(Block, cursor),
        limit = const offset_of!(Block, limit),
        slow = sym flush_slow,
    }
    check_flush {
        role = const offset_of!(Block, role),
        stack = const offset_of!(Block, stack),
        ended = const ENDED,
        scratch = const SCRATCH,
        limit = const offset_of!(Block, limit),
        cursor = const offset_of!(Block, cursor),
        slow = sym flush_check,
    }
}

#[test]
fn a_full_buffer_is_handed_over_and_an_ended_thread_uses_its_scratch_again() {
    CALLED.set([0; 2]);
    let at = |address| std::ptr::without_provenance_mut::<u8>(address);
    assert_eq!(flush(at(100)).addr(), 101);
    assert_eq!(check_flush(at(200)).addr(), 202);
    assert_eq!(CALLED.get(), [100, 200]);
    block().role.store(ENDED, Relaxed);
    block().limit.store(SCRATCH + 50, Relaxed);
    assert_eq!(flush(at(100)).addr(), 50);
    assert_eq!(check_flush(at(100)).addr(), 50);
    assert_eq!(block().cursor.load(Relaxed), 50);
    block().limit.store(SCRATCH - 1, Relaxed);
    assert_eq!(flush(at(300)).addr(), 301, "the scratch memory is not set up");
}

#[test]
fn a_hook_that_keeps_the_registers_runs() {
    let before = DESTROYED.load(Relaxed);
    stub(contech_interpose_test_keeping)(1, 2, 3);
    assert!(DESTROYED.load(Relaxed) > before);
}
