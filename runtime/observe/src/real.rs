//! The functions that this library intercepts.

use std::ffi::{c_int, c_uint};

use contech_interpose::functions::Routine;
pub(crate) use contech_interpose::functions::Time;
pub(crate) use contech_interpose::threads::Ptr;
use contech_interpose::threads::{Body, Body11};
use contech_interpose::{for_each_function, real_functions};
use libc::timespec;

for_each_function! { real_functions! {} }
