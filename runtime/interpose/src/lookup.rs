//! Looks up the functions that a library intercepts, as the next object in the search order defines
//! them.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::atomic::{
    AtomicPtr, AtomicU8, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use crate::kernel;
use crate::mask::Blocked;
use crate::notice;

/// Declares the type `Real` of a table of functions, and `real()`, which looks them up at its first
/// call. `= "symbol"` gives another name to look for, `@ "version"` the version of the symbol. A
/// function that the process does not have reports that when it is called.
#[macro_export]
macro_rules! real_functions {
    // The functions of `for_each_function`, and the listener's own.
    ({$($own:tt)*} $($name:ident $(@ $version:literal)? ($($arg:ident: $ty:ty),*) $(-> $ret:ty)?: $does:tt $state:tt;)*) => {
        $crate::real_functions! { $($own)* $($name $(@ $version)? : ($($ty),*) $(-> $ret)?;)* }
    };
    ($($name:ident $(= $symbol:literal)? $(@ $version:literal)? : ($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// The real functions, by name. A function that the process does not have reports that when
        /// it is called.
        #[allow(dead_code, reason = "each listener calls its part of the functions")]
        pub(crate) struct Real { $(pub(crate) $name: unsafe extern "C-unwind" fn($($arg),*) $(-> $ret)?,)* }

        static TABLE: $crate::lookup::Table<Real> = $crate::lookup::Table::new();

        /// The real functions.
        #[inline(always)]
        pub(crate) fn real() -> &'static Real {
            TABLE.get(resolve_all)
        }

        /// The real functions, unless a thread, perhaps this one, is looking them up at the moment.
        #[inline(always)]
        #[allow(dead_code, reason = "for functions that dlsym itself calls")]
        pub(crate) fn real_if_ready() -> Option<&'static Real> {
            TABLE.get_if_ready(resolve_all)
        }

        fn resolve_all() -> Real {
            Real { $($name: {
                let symbol = $crate::real_functions!(@symbol $name $($symbol)?);
                let found = $crate::lookup::find(symbol, $crate::real_functions!(@version $($version)?));
                // SAFETY: the symbol's C prototype is this type; `missing` takes no arguments and
                // does not return.
                unsafe { std::mem::transmute::<*mut ::std::ffi::c_void, unsafe extern "C-unwind" fn($($arg),*) $(-> $ret)?>(found) }
            },)* }
        }
    };
    (@symbol $name:ident) => { concat!(stringify!($name), "\0") };
    (@symbol $name:ident $symbol:literal) => { concat!($symbol, "\0") };
    (@version) => { None };
    (@version $version:literal) => { Some(concat!($version, "\0")) };
}

const UNKNOWN: u8 = 0;
const RESOLVING: u8 = 1;
const READY: u8 = 2;

/// A table that is made once, by the first thread that asks for it.
#[derive(Debug)]
pub struct Table<T> {
    state: AtomicU8,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: the value is written once, by the thread that changed `state` from unknown to resolving,
// and is read only once it is ready.
unsafe impl<T: Sync> Sync for Table<T> {}

impl<T> Table<T> {
    /// A table that is not made yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { state: AtomicU8::new(UNKNOWN), value: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    /// The table, which is made now if it does not exist yet.
    #[inline(always)]
    pub fn get(&self, make: fn() -> T) -> &T {
        if self.state.load(Acquire) != READY {
            self.resolve(make);
        }
        // SAFETY: once the state is ready, the value is written and does not change.
        unsafe { (*self.value.get()).assume_init_ref() }
    }

    /// The table, unless a thread, perhaps this one, is making it at the moment.
    #[inline(always)]
    pub fn get_if_ready(&self, make: fn() -> T) -> Option<&T> {
        match self.state.load(Acquire) {
            RESOLVING => None,
            _ => Some(self.get(make)),
        }
    }

    #[cold]
    #[inline(never)]
    fn resolve(&self, make: fn() -> T) {
        let _blocked = Blocked::new();
        match self.state.compare_exchange(UNKNOWN, RESOLVING, Acquire, Acquire) {
            Ok(_) => {
                let table = make();
                // SAFETY: only this thread is resolving.
                unsafe { (*self.value.get()).write(table) };
                self.state.store(READY, Release);
            }
            // Another thread is making the table. This thread cannot be the one: inside `dlsym` it
            // could only call allocation functions, and those use `get_if_ready`.
            Err(_) => {
                while self.state.load(Acquire) != READY {
                    kernel::yield_now();
                }
            }
        }
    }
}

/// Libraries to search by name. In a plain program that uses an instrumented library, the C library
/// comes before this one, and the functions of the C++ libraries may not be globally visible.
const LIBRARIES: [&CStr; 4] = [c"libc.so.6", c"libstdc++.so.6", c"libc++abi.so.1", c"libc++.so.1"];

/// The next definition of a symbol after this library's. If there is none, the result is a function
/// that ends the process.
#[must_use]
pub fn find(symbol: &str, version: Option<&str>) -> *mut c_void {
    search(symbol, version).unwrap_or(MISSING as *mut c_void)
}

/// The next definition of a symbol after this library's, if there is one.
#[must_use]
pub fn next(symbol: &str) -> Option<*mut c_void> {
    search(symbol, None)
}

fn search(symbol: &str, version: Option<&str>) -> Option<*mut c_void> {
    let name = symbol.as_ptr().cast::<c_char>();
    let in_place = |place: *mut c_void| {
        let versioned = version.map(|version| {
            // SAFETY: both strings end in a zero byte; the place is a handle or a pseudo-handle.
            unsafe { libc::dlvsym(place, name, version.as_ptr().cast()) }
        });
        // SAFETY: the name ends in a zero byte; the place is a handle or a pseudo-handle.
        let any = || unsafe { libc::dlsym(place, name) };
        versioned.filter(|found| !found.is_null()).or_else(|| Some(any()).filter(|f| !f.is_null()))
    };
    // A library is opened only if needed, because that allocates on the program's heap and so moves
    // the program's own allocations.
    in_place(libc::RTLD_NEXT)
        .or_else(|| LIBRARIES.iter().find_map(|library| in_place(loaded(library)?)))
}

/// A handle of a library, if it is loaded.
#[must_use]
pub fn loaded(library: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name is a C string; `RTLD_NOLOAD` loads nothing that is not loaded already.
    let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    (!handle.is_null()).then_some(handle)
}

/// A function of a library that the program may not have, or may load later. It is looked up when
/// it is first wanted.
#[derive(Debug)]
pub struct LateFunction<F> {
    address: AtomicPtr<c_void>,
    name: &'static str,
    search: fn(&str) -> Option<*mut c_void>,
    function: PhantomData<F>,
}

impl<F: Copy> LateFunction<F> {
    /// The function with the name, which ends in a zero byte; `search` finds it.
    ///
    /// # Safety
    /// `F` is a function pointer, and the type of what `search` finds.
    #[must_use]
    pub const unsafe fn new(name: &'static str, search: fn(&str) -> Option<*mut c_void>) -> Self {
        let address = AtomicPtr::new(std::ptr::null_mut());
        Self { address, name, search, function: PhantomData }
    }

    /// The function. The program has called it, so there is one; otherwise the result ends the
    /// process.
    #[inline(always)]
    pub fn get(&self) -> F {
        // SAFETY: who made this vouches for the type; `missing` takes no arguments and does not
        // return.
        self.known().unwrap_or_else(|| unsafe { std::mem::transmute_copy(&MISSING) })
    }

    /// The function, if there is one.
    #[inline(always)]
    pub fn known(&self) -> Option<F> {
        let known = self.address.load(Relaxed);
        let found = if known.is_null() { self.search() } else { known };
        // SAFETY: who made this vouches for the type.
        (!found.is_null()).then(|| unsafe { std::mem::transmute_copy(&found) })
    }

    #[cold]
    fn search(&self) -> *mut c_void {
        let found = (self.search)(self.name).unwrap_or(std::ptr::null_mut());
        self.address.store(found, Relaxed);
        found
    }
}

/// Declares functions of other libraries ([`LateFunction`](crate::lookup::LateFunction)): `static
/// NAME = function(type, ...) -> type;`.
#[macro_export]
macro_rules! found {
    ($($visibility:vis static $name:ident = $symbol:ident($($ty:ty),*) $(-> $ret:ty)?;)*) => {$(
        #[doc = concat!("`", stringify!($symbol), "`, where it is first wanted.")]
        $visibility static $name: $crate::lookup::LateFunction<unsafe extern "C-unwind" fn($($ty),*) $(-> $ret)?> =
            // SAFETY: the function of that name has this type.
            unsafe { $crate::lookup::LateFunction::new(concat!(stringify!($symbol), "\0"), $crate::lookup::next) };
    )*};
}

/// Stands in front of functions of other libraries. `NAME [KIND] (argument: type, ...; caller) ->
/// type => |call| BODY` exports NAME as [`exports`](crate::exports!) does for KIND. BODY runs in
/// its place, and `call` calls the library's.
#[macro_export]
macro_rules! in_front_of {
    ($($name:ident $([$($kind:tt)+])? ($($arg:ident: $ty:ty),* $(; $caller:ident)?) $(-> $ret:ty)? => |$call:ident| $body:expr;)*) => {$(
        const _: () = {
            $crate::found! { static REAL = $name($($ty),*) $(-> $ret)?; }

            #[allow(clippy::too_many_arguments, reason = "the library's function has them")]
            unsafe extern "C-unwind" fn hook($($arg: $ty,)* $($caller: usize)?) $(-> $ret)? {
                // SAFETY: the caller's arguments are passed on.
                let $call = || unsafe { (REAL.get())($($arg),*) };
                $body
            }
            $crate::exports! { $name $([$($kind)+])? = hook; }
        };
    )*};
}

const MISSING: extern "C" fn() -> ! = missing;

extern "C" fn missing() -> ! {
    notice::say("the program called a function that its C library does not have");
    // SAFETY: the call ends the process, as a call of a function that does not exist would.
    unsafe { libc::abort() }
}
