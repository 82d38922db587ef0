//! Instrumented modules join the recording, and leave it.

use contech_interpose::mask::{Blocked, Uncancellable};
use contech_interpose::objects::{executable, objects};
use contech_runtime_core::modules::FoundModule;
use contech_trace::abi::{ModuleDescriptor, Ptr};

use crate::again;
use crate::current::{self, guarded};
use crate::fork::between_forks;
use crate::objects::refresh_callers;
use crate::sandbox::is_confined;
use crate::start;
use crate::tls::block;

/// Exported as `__contech_register`.
pub(crate) unsafe extern "C" fn register(first: Ptr, end: Ptr) {
    let tls = block();
    let running = current::recorder();
    if running.is_none() && !start::is_possible(tls) {
        return;
    }
    let found = guarded(|| {
        let _uncancellable = Uncancellable::new();
        let _blocked = Blocked::new();
        let _quiet = tls.quiet();
        // SAFETY: the linker's symbols enclose the descriptors of one object, which stays loaded
        // while they are registered.
        unsafe { find(first.cast(), end.cast()) }
    });
    let found = found.unwrap_or_default();
    if running.is_none() {
        // This is not done with signals blocked, because a new start would inherit that.
        guarded(|| again::if_chance_is_bad(&found));
    }
    let Some(recorder) = running.or_else(|| start::start(tls)) else {
        return;
    };
    guarded(|| {
        let _uncancellable = Uncancellable::new();
        let _blocked = Blocked::new();
        let _quiet = tls.quiet();
        let _stays = between_forks();
        recorder.register(tls, found);
        refresh_callers(recorder);
        // To make a thread later, from within a flush, might call an allocator of the program's
        // whose lock the program holds there.
        recorder.expect_flushes();
    });
}

/// Exported as `__contech_unregister`.
pub(crate) unsafe extern "C" fn unregister(first: Ptr, end: Ptr) {
    let tls = block();
    let Some(recorder) = current::recorder().filter(|_| !is_confined()) else {
        return;
    };
    guarded(|| {
        let _uncancellable = Uncancellable::new();
        let _blocked = Blocked::new();
        let _quiet = tls.quiet();
        let _stays = between_forks();
        let step = size_of::<ModuleDescriptor>();
        for address in (first.addr()..end.addr()).step_by(step) {
            recorder.unregister(address);
        }
    });
}

/// # Safety
/// Descriptors lie from `first` to `end`, and what they point to stays until they are unregistered.
unsafe fn find(first: *const ModuleDescriptor, end: *const ModuleDescriptor) -> Vec<FoundModule> {
    let objects = objects();
    let count = end.addr().saturating_sub(first.addr()) / size_of::<ModuleDescriptor>();
    let mut list = Vec::with_capacity(count);
    for i in 0..count {
        let at = first.wrapping_add(i);
        let object = objects.iter().find(|o| o.holds(at.addr()));
        // SAFETY: `i` is below the number of descriptors there.
        let descriptor = unsafe { at.read() };
        list.push(FoundModule {
            address: at.addr(),
            // SAFETY: the descriptor says where its module's table and globals are.
            table: unsafe { slice(descriptor.table, descriptor.table_len) },
            // SAFETY: the descriptor says where its module's table and globals are.
            globals: unsafe { slice(descriptor.globals, descriptor.global_count) },
            descriptor,
            object: object.map_or_else(String::new, |o| {
                if o.path.is_empty() { executable() } else { o.path.clone() }
            }),
            load_address: object.map_or(0, |o| o.base as u64),
        });
    }
    list
}

/// # Safety
/// `address` is null, or `len` values of the type lie there and stay.
unsafe fn slice<T>(address: u64, len: u64) -> &'static [T] {
    let (Ok(address), Ok(len)) = (usize::try_from(address), usize::try_from(len)) else {
        return &[];
    };
    if address == 0 || len == 0 {
        return &[];
    }
    // SAFETY: the caller promises that the values are there and stay.
    unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(address), len) }
}
