//! The edge to the host compiler: the plugin's entry point, and the callback from the host's pass
//! manager.
#![allow(unsafe_code, reason = "C ABI of LLVM's plugin interface")]

use std::ffi::{c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};

use inkwell::llvm_sys::prelude::LLVMModuleRef;
use inkwell::module::Module;

use crate::ir;
use crate::module::instrument;
use crate::options::{self, Options};

/// `llvm::PassPluginLibraryInfo` of LLVM 22 (`llvm/Plugins/PassPlugin.h`), plugin API version 2.
#[repr(C)]
#[derive(Debug)]
pub struct PassPluginLibraryInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: Option<unsafe extern "C" fn(*mut c_void)>,
    pre_codegen: Option<unsafe extern "C" fn()>,
}

unsafe extern "C" {
    fn contech_shim_register(pass_builder: *mut c_void);
}

/// Called by the host after loading the library. The function is defined in Rust because rustc's
/// version script hides symbols of linked C++ objects.
#[unsafe(no_mangle)]
pub extern "C" fn llvmGetPassPluginInfo() -> PassPluginLibraryInfo {
    PassPluginLibraryInfo {
        api_version: 2,
        name: c"contech".as_ptr(),
        version: c"1".as_ptr(),
        register: Some(contech_shim_register),
        pre_codegen: None,
    }
}

/// Called by the shim for each function, by each of its names. Returns non-zero when it is a region
/// of interest.
#[unsafe(no_mangle)]
extern "C" fn contech_is_region(name: *const c_char, length: usize) -> c_int {
    // SAFETY: the shim passes the bytes of a name, which it keeps during the call.
    let name = unsafe { std::slice::from_raw_parts(name.cast::<u8>(), length) };
    c_int::from(std::str::from_utf8(name).is_ok_and(options::is_region))
}

/// Called by the shim's pass. Returns non-zero when the module was changed. On failure it reports a
/// compile error through LLVM, so that no half-instrumented object is ever written.
#[unsafe(no_mangle)]
extern "C" fn contech_run_on_module(raw: LLVMModuleRef, before_link: c_int) -> c_int {
    // SAFETY: the pass manager passes a live module, which stays the host's, hence ManuallyDrop.
    let module = ManuallyDrop::new(unsafe { Module::new(raw) });
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let options = Options::from_env()?;
        instrument(&module, options, before_link != 0)
    }));
    let error = match outcome {
        Ok(Ok(changed)) => return c_int::from(changed),
        Ok(Err(message)) => message,
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("unknown cause");
            format!(
                "internal error while instrumenting: {text} (compile this file with clang, and report it)"
            )
        }
    };
    ir::report_error(&module, &error);
    1
}
