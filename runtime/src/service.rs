//! What the core asks of this library: the writer thread, and a notice of every thread's end.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use contech_interpose::kernel::call;
use contech_interpose::life::watch_this_thread;
use contech_interpose::objects::about;
use contech_runtime_core::host::Host;
use contech_runtime_core::scratch;
use contech_runtime_core::tls::RUNTIME;

use crate::atomic::STRIPES;
use crate::current::guarded;
use crate::ompt;
use crate::real::{Ptr, real};
use crate::tls::block;

/// Bytes of the writer thread's stack.
const STACK: usize = 512 << 10;

pub(crate) struct Service {
    writer: AtomicUsize,
}

pub(crate) static SERVICE: Service = Service { writer: AtomicUsize::new(0) };

impl Host for Service {
    fn remarks(&self) -> Vec<String> {
        let n = STRIPES.taken_over();
        let told = format!(
            "{n} atomic operations may stand in a wrong order: signal handlers waited for each other's place in it \
             for more than a second"
        );
        let gomp = ompt::silent_libgomp().map(str::to_owned);
        (n > 0).then_some(told).into_iter().chain(gomp).collect()
    }

    fn start_writer(&self, write: Box<dyn FnOnce() + Send>) -> bool {
        // The C library may get the thread's memory from an allocator of the program. What that
        // allocator records must not go into the buffers of this thread, which are just being
        // handed over.
        let tls = block();
        let saved = tls.cursors();
        scratch::all_last_resort(tls);
        let started = self.start_thread(write);
        tls.set_cursors(saved);
        started
    }

    fn has_own_allocator(&self) -> bool {
        // SAFETY: the name is a C string.
        let first = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr()) };
        let home = |function: *const c_void| about(function.addr()).map(|object| object.dli_fbase);
        let library = home(real().pthread_create as *const c_void);
        let ours = home(Self::start_thread as *const c_void);
        let next = home(real().malloc as *const c_void);
        next != library || ![library, ours].contains(&home(first))
    }

    fn join_writer(&self) {
        // SAFETY: this is the handle of the writer, and the call is made once for each started
        // writer.
        unsafe { (real().pthread_join)(self.writer.load(Relaxed), std::ptr::null_mut()) };
    }

    fn watch_thread_end(&self) {
        watch_this_thread();
    }
}

impl Service {
    fn start_thread(&self, write: Box<dyn FnOnce() + Send>) -> bool {
        let real = real();
        // SAFETY: attributes are plain data for which zero is a value until they are initialised.
        let mut attributes: libc::pthread_attr_t = unsafe { std::mem::zeroed() };
        let mut thread = 0usize;
        let argument = Box::into_raw(Box::new(write));
        // SAFETY: the attributes are live; the thread takes its argument over. The caller has all
        // signals blocked, which the thread inherits.
        let started = unsafe {
            libc::pthread_attr_init(&raw mut attributes);
            libc::pthread_attr_setstacksize(&raw mut attributes, STACK);
            let pointer = (&raw mut attributes).cast();
            let result = (real.pthread_create)(&raw mut thread, pointer, run, argument.cast());
            libc::pthread_attr_destroy(&raw mut attributes);
            result == 0
        };
        if started {
            self.writer.store(thread, Relaxed);
        } else {
            // SAFETY: no thread has taken the argument.
            drop(unsafe { Box::from_raw(argument) });
        }
        started
    }
}

/// The body of the writer thread.
unsafe extern "C-unwind" fn run(write: Ptr) -> Ptr {
    const SET_NAME: usize = libc::PR_SET_NAME as usize;
    block().set_role(RUNTIME);
    // SAFETY: the name is a C string of at most 16 bytes.
    let _ = unsafe {
        call(libc::SYS_prctl, [SET_NAME, c"contech-writer".as_ptr().expose_provenance()])
    };
    // SAFETY: the argument is the box that `start_thread` made for this thread alone.
    let write = unsafe { Box::from_raw(write.cast::<Box<dyn FnOnce() + Send>>()) };
    guarded(write);
    std::ptr::null_mut()
}
