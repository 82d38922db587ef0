//! The functions that this library intercepts.

use std::ffi::{c_int, c_uint};

use contech_guest::functions::Routine;
pub(crate) use contech_guest::functions::Time;
pub(crate) use contech_guest::threads::Ptr;
use contech_guest::threads::{Body, Body11};
use contech_guest::{for_each_function, real_functions};
use libc::timespec;

for_each_function! { real_functions! {} }
