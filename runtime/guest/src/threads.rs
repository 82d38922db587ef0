//! Functions that create and join threads: a stand-in becomes the new thread's function, so that the thread has its state
//! before anything of the program runs in it.

use std::ffi::{c_int, c_void};

/// A pointer of the program's.
pub type Ptr = *mut c_void;
/// What a thread of `pthread_create` runs.
pub type Body = unsafe extern "C-unwind" fn(Ptr) -> Ptr;
/// What a thread of `thrd_create` runs.
pub type Body11 = unsafe extern "C-unwind" fn(Ptr) -> c_int;

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attributes: Ptr, state: *mut c_int) -> c_int;
}

/// A thread as its creator wants it.
#[derive(Debug)]
pub struct Wanted {
    /// Where its handle goes.
    pub handle: *mut usize,
    /// Address of what it is to run: a [`Body`] or [`Body11`].
    pub body: usize,
    /// What with.
    pub argument: Ptr,
    /// The place that creates it.
    pub caller: usize,
    /// Somebody may join it.
    pub joinable: bool,
}

/// What a library does about threads; [`thread_functions`](crate::thread_functions) makes the exported functions of it.
pub trait Threads {
    /// Creates a thread by `call`, which gets the new thread's state if it is to have one.
    fn create(wanted: &Wanted, call: impl FnOnce(Option<Ptr>) -> c_int) -> c_int;

    /// First act of the new thread, given its state; what it is to run (of the creator's type), and with what.
    fn begin(state: Ptr) -> (usize, Ptr);

    /// What the thread ran has returned.
    fn returned() {}

    /// Joins a thread by `call`.
    fn join(handle: usize, caller: usize, call: impl FnOnce() -> c_int) -> c_int;
}

/// Whether a thread of these attributes (null: the default ones) can be joined.
///
/// # Safety
/// The attributes are valid.
#[must_use]
pub unsafe fn is_joinable(attributes: Ptr) -> bool {
    let mut detached = libc::PTHREAD_CREATE_JOINABLE;
    if !attributes.is_null() {
        // SAFETY: valid, as the caller says.
        unsafe { pthread_attr_getdetachstate(attributes, &raw mut detached) };
    }
    detached == libc::PTHREAD_CREATE_JOINABLE
}

/// The [`Body`] that stands in for another one.
///
/// # Safety
/// Run once by a new thread, with the state that [`Threads::create`] gave for one whose body is of this type.
pub unsafe extern "C-unwind" fn run<T: Threads>(state: Ptr) -> Ptr {
    let (body, argument) = T::begin(state);
    // SAFETY: the creator was given this function as the thread's body.
    let body = unsafe { std::mem::transmute::<usize, Body>(body) };
    // SAFETY: called once with its argument, as the creator asked.
    let result = unsafe { body(argument) };
    T::returned();
    result
}

/// The [`Body11`] that stands in for another one.
///
/// # Safety
/// As [`run`].
pub unsafe extern "C-unwind" fn run11<T: Threads>(state: Ptr) -> c_int {
    let (body, argument) = T::begin(state);
    // SAFETY: as in `run`.
    let body = unsafe { std::mem::transmute::<usize, Body11>(body) };
    // SAFETY: as in `run`.
    let result = unsafe { body(argument) };
    T::returned();
    result
}

/// Defines the functions that create and join threads, to be exported with their callers' places, for a type that
/// implements [`Threads`](crate::threads::Threads); `real` gives the table of the real ones.
#[macro_export]
macro_rules! thread_functions {
    ($threads:ty, $real:path) => {
        /// Stands in for `pthread_create`.
        pub(crate) unsafe extern "C-unwind" fn pthread_create(
            handle: *mut usize,
            attributes: $crate::threads::Ptr,
            body: $crate::threads::Body,
            argument: $crate::threads::Ptr,
            caller: usize,
        ) -> ::std::ffi::c_int {
            // SAFETY: the caller's attributes.
            let joinable = unsafe { $crate::threads::is_joinable(attributes) };
            let wanted = $crate::threads::Wanted {
                handle,
                body: body as usize,
                argument,
                caller,
                joinable,
            };
            <$threads as $crate::threads::Threads>::create(&wanted, |state| {
                let run: $crate::threads::Body = $crate::threads::run::<$threads>;
                let (body, argument) = state.map_or((body, argument), |state| (run, state));
                // SAFETY: the caller's arguments, or the stand-in with the state it expects.
                unsafe { ($real().pthread_create)(handle, attributes, body, argument) }
            })
        }

        /// Stands in for `thrd_create`.
        pub(crate) unsafe extern "C-unwind" fn thrd_create(
            handle: *mut usize,
            body: $crate::threads::Body11,
            argument: $crate::threads::Ptr,
            caller: usize,
        ) -> ::std::ffi::c_int {
            let wanted = $crate::threads::Wanted {
                handle,
                body: body as usize,
                argument,
                caller,
                joinable: true,
            };
            <$threads as $crate::threads::Threads>::create(&wanted, |state| {
                let run: $crate::threads::Body11 = $crate::threads::run11::<$threads>;
                let (body, argument) = state.map_or((body, argument), |state| (run, state));
                // SAFETY: as in `pthread_create`.
                unsafe { ($real().thrd_create)(handle, body, argument) }
            })
        }

        $crate::thread_functions! { @joins $threads, $real;
            pthread_join(value: *mut $crate::threads::Ptr);
            pthread_tryjoin_np(value: *mut $crate::threads::Ptr);
            pthread_timedjoin_np(value: *mut $crate::threads::Ptr, until: *const ::libc::timespec);
            pthread_clockjoin_np(
                value: *mut $crate::threads::Ptr,
                clock: ::std::ffi::c_int,
                until: *const ::libc::timespec
            );
            thrd_join(value: *mut ::std::ffi::c_int);
        }
    };
    (@joins $threads:ty, $real:path; $($name:ident($($argument:ident: $ty:ty),*);)*) => {$(
        #[doc = concat!("Stands in for `", stringify!($name), "`.")]
        pub(crate) unsafe extern "C-unwind" fn $name(
            handle: usize,
            $($argument: $ty,)*
            caller: usize,
        ) -> ::std::ffi::c_int {
            // SAFETY: the caller's arguments, passed on.
            let call = || unsafe { ($real().$name)(handle, $($argument),*) };
            <$threads as $crate::threads::Threads>::join(handle, caller, call)
        }
    )*};
}
