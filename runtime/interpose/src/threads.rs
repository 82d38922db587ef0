//! Functions that create, join and detach threads. A function of this module replaces the new
//! thread's function, so that the thread has its state before any code of the program runs in it.

use std::ffi::{c_int, c_void};

pub type Ptr = *mut c_void;
/// The function that a thread of `pthread_create` runs.
pub type Body = unsafe extern "C-unwind" fn(Ptr) -> Ptr;
/// The function that a thread of `thrd_create` runs.
pub type Body11 = unsafe extern "C-unwind" fn(Ptr) -> c_int;

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attributes: Ptr, state: *mut c_int) -> c_int;
    fn pthread_attr_getstack(attributes: Ptr, low: *mut usize, size: *mut usize) -> c_int;
}

/// The thread that a creator asks for.
#[derive(Debug)]
pub struct Wanted {
    /// Where the thread's handle is to be stored.
    pub handle: *mut usize,
    /// Address of the function that the thread is to run: a [`Body`] or [`Body11`].
    pub body: usize,
    /// The argument of that function.
    pub argument: Ptr,
    /// The place from which the thread is created.
    pub caller: usize,
    /// Whether the thread may be joined.
    pub joinable: bool,
    /// Bytes of the stack that the C library makes for the thread, with its thread-local variables;
    /// 0 if the program brings a stack.
    pub stack: usize,
}

/// What a library does about threads. [`thread_functions`](crate::thread_functions) makes the
/// functions that create threads from an implementation.
pub trait Threads {
    /// Creates a thread with `call`, which gets the new thread's state if the thread is to have
    /// one.
    fn create(wanted: &Wanted, call: impl FnOnce(Option<Ptr>) -> c_int) -> c_int;

    /// Runs first in the new thread, with its state. The result is the address of the thread's
    /// function (of the type that the creator used) and its argument.
    fn begin(state: Ptr) -> (usize, Ptr);

    /// Called when the thread's function has returned.
    fn returned() {}

    /// Joins a thread with `call`.
    fn join(handle: usize, caller: usize, call: impl FnOnce() -> c_int) -> c_int;

    /// Detaches a thread with `call`, after which the system may use the handle for another thread.
    fn detach(handle: usize, call: impl FnOnce() -> c_int) -> c_int;
}

impl Wanted {
    /// What the arguments of a function that creates a thread ask for.
    ///
    /// # Safety
    /// The attributes are valid, or null, which means the default ones.
    #[must_use]
    pub unsafe fn new(
        handle: *mut usize,
        attributes: Ptr,
        body: usize,
        argument: Ptr,
        caller: usize,
    ) -> Self {
        // SAFETY: the caller vouches for the attributes.
        let (joinable, stack) = unsafe { (is_joinable(attributes), stack_size(attributes)) };
        Wanted { handle, body, argument, caller, joinable, stack }
    }
}

/// Whether a thread with these attributes can be joined.
///
/// # Safety
/// The attributes are valid or null.
unsafe fn is_joinable(attributes: Ptr) -> bool {
    let mut detached = libc::PTHREAD_CREATE_JOINABLE;
    if !attributes.is_null() {
        // SAFETY: the caller promises that the attributes are valid.
        unsafe { pthread_attr_getdetachstate(attributes, &raw mut detached) };
    }
    detached == libc::PTHREAD_CREATE_JOINABLE
}

/// Bytes of the stack that the C library makes for a thread with these attributes; 0 if they name a
/// stack.
///
/// # Safety
/// The attributes are valid or null.
unsafe fn stack_size(attributes: Ptr) -> usize {
    let (mut low, mut size) = (0, 0);
    if attributes.is_null() {
        let mut default = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
        // SAFETY: the attributes are made here, asked, and destroyed.
        unsafe {
            if libc::pthread_attr_init(default.as_mut_ptr()) == 0 {
                libc::pthread_attr_getstacksize(default.as_ptr(), &raw mut size);
                libc::pthread_attr_destroy(default.as_mut_ptr());
            }
        }
        return size;
    }
    // SAFETY: the caller promises that the attributes are valid.
    unsafe {
        pthread_attr_getstack(attributes, &raw mut low, &raw mut size);
        // Without a stack the lowest address is counted from the address 0, and a size of 0 means
        // the default one.
        if low.wrapping_add(size) != 0 {
            return 0;
        }
        libc::pthread_attr_getstacksize(attributes.cast(), &raw mut size);
    }
    size
}

/// The [`Body`] or [`Body11`] that replaces another one.
///
/// # Safety
/// A new thread calls this function once, with the state that [`Threads::create`] gave for a thread
/// whose body has this type.
pub unsafe extern "C-unwind" fn run<T: Threads, R>(state: Ptr) -> R {
    let (body, argument) = T::begin(state);
    // SAFETY: the creator passed this function as the thread's body.
    let body = unsafe { std::mem::transmute::<usize, unsafe extern "C-unwind" fn(Ptr) -> R>(body) };
    // SAFETY: the function is called once with its argument, as the creator asked.
    let result = unsafe { body(argument) };
    T::returned();
    result
}

/// Defines the functions that create threads, for a type that implements
/// [`Threads`](crate::threads::Threads). The functions are to be exported with their callers'
/// places; `real` gives the table of the real functions.
#[macro_export]
macro_rules! thread_functions {
    ($threads:ty, $real:path) => {
        $crate::thread_functions! { @creates $threads, $real;
            pthread_create(attributes) $crate::threads::Body;
            thrd_create() $crate::threads::Body11;
        }
    };
    (@creates $threads:ty, $real:path; $($name:ident($($attributes:ident)?) $body:ty;)*) => {$(
        #[doc = concat!("Stands in for `", stringify!($name), "`.")]
        pub(crate) unsafe extern "C-unwind" fn $name(
            handle: *mut usize,
            $($attributes: $crate::threads::Ptr,)?
            body: $body,
            argument: $crate::threads::Ptr,
            caller: usize,
        ) -> ::std::ffi::c_int {
            let given = [$($attributes,)? ::std::ptr::null_mut()][0];
            // SAFETY: the attributes are the caller's, or the default ones.
            let wanted = unsafe {
                $crate::threads::Wanted::new(handle, given, body as usize, argument, caller)
            };
            <$threads as $crate::threads::Threads>::create(&wanted, |state| {
                let run: $body = $crate::threads::run::<$threads, _>;
                let (body, argument) = state.map_or((body, argument), |state| (run, state));
                // SAFETY: the arguments are the caller's, or the replacement with the state that it
                // expects.
                unsafe { ($real().$name)(handle, $($attributes,)? body, argument) }
            })
        }
    )*};
}
