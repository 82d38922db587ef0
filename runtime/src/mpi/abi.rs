//! The two binary interfaces of MPI that exist: constants and the layout of the status.
//!
//! The sources are mpi.h of Open MPI 4.1 (unchanged since 1.7, and in 5.0) and of MPICH 4.0 (the
//! ABI that its initiative fixed in 2014 for MPICH, Intel MPI, MVAPICH and Cray MPT).

use std::ffi::{c_char, c_int};

use super::entry::{find, pmpi};

/// What differs between the interfaces.
#[derive(Debug)]
pub(crate) struct Abi {
    /// Handles are pointers, not ints.
    pub(super) wide: bool,
    /// Bytes of a status.
    pub(super) status_bytes: usize,
    /// Offset of the source in a status; the tag comes after it.
    pub(super) source_at: usize,
    pub(super) any_source: c_int,
    pub(super) any_tag: c_int,
    pub(super) proc_null: c_int,
    /// MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE.
    pub(super) ignore: usize,
    /// MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL and MPI_REQUEST_NULL.
    pub(super) world: Constant,
    pub(super) itself: Constant,
    pub(super) no_communicator: Constant,
    pub(super) no_request: Constant,
}

/// A predefined handle: a number, or the address of a symbol.
#[derive(Debug)]
pub(super) enum Constant {
    Number(usize),
    Symbol(&'static str),
}

impl Constant {
    pub(super) fn word(&self) -> usize {
        match self {
            Constant::Number(n) => *n,
            Constant::Symbol(name) => find(name).map_or(0, <*mut _>::addr),
        }
    }
}

static OPEN_MPI: Abi = Abi {
    wide: true,
    status_bytes: 24,
    source_at: 0,
    any_source: -1,
    any_tag: -1,
    proc_null: -2,
    ignore: 0,
    world: Constant::Symbol("ompi_mpi_comm_world\0"),
    itself: Constant::Symbol("ompi_mpi_comm_self\0"),
    no_communicator: Constant::Symbol("ompi_mpi_comm_null\0"),
    no_request: Constant::Symbol("ompi_request_null\0"),
};

static MPICH: Abi = Abi {
    wide: false,
    status_bytes: 20,
    source_at: 8,
    any_source: -2,
    any_tag: -1,
    proc_null: -1,
    ignore: 1,
    world: Constant::Number(0x4400_0000),
    itself: Constant::Number(0x4400_0001),
    no_communicator: Constant::Number(0x0400_0000),
    no_request: Constant::Number(0x2c00_0000),
};

/// MPI_UNDEFINED in both interfaces.
pub(super) const UNDEFINED: c_int = -32766;

/// The interface of the library in this process, and the library's name for itself.
pub(super) fn detect() -> (Option<&'static Abi>, String) {
    let mut text = [0u8; 8192];
    let mut length: c_int = 0;
    if find("PMPI_Get_library_version\0").is_some() {
        let text: *mut c_char = text.as_mut_ptr().cast();
        pmpi!(PMPI_Get_library_version(text.addr(), (&raw mut length).addr()));
    }
    let text = &text[..usize::try_from(length).unwrap_or(0).min(text.len())];
    let name = String::from_utf8_lossy(text);
    let name = name.lines().next().unwrap_or("").trim_end_matches('\0');
    let one = |word: &str| name.to_ascii_uppercase().contains(word);
    let abi = if find("ompi_mpi_comm_world\0").is_some() {
        Some(&OPEN_MPI)
    } else if ["MPICH", "MVAPICH", "INTEL"].iter().any(|w| one(w)) {
        Some(&MPICH)
    } else {
        None
    };
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    (abi, name)
}

impl Abi {
    /// A handle, cut from the word in which it was passed.
    pub(super) fn handle(&self, word: usize) -> u64 {
        let word = word as u64;
        if self.wide { word } else { word & 0xffff_ffff }
    }

    /// Handle `at` of an array.
    pub(super) fn handle_in(&self, array: usize, at: usize) -> u64 {
        if self.wide {
            let place = std::ptr::with_exposed_provenance::<u64>(array).wrapping_add(at);
            // SAFETY: the program passed an array that has a handle at this place.
            unsafe { place.read() }
        } else {
            let place = std::ptr::with_exposed_provenance::<u32>(array).wrapping_add(at);
            // SAFETY: the program passed an array that has a handle at this place.
            unsafe { place.read() }.into()
        }
    }

    /// Source and tag in a status.
    pub(super) fn envelope(&self, status: usize) -> (c_int, c_int) {
        let place = std::ptr::with_exposed_provenance::<c_int>(status + self.source_at);
        // SAFETY: the address is that of a status that MPI filled. Source and tag are ints that
        // follow each other.
        unsafe { (place.read(), place.add(1).read()) }
    }
}

/// An int that the program passed.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "an int is the low half of the word it is passed in"
)]
pub(super) fn int(word: usize) -> c_int {
    word as c_int
}

/// An int of an array whose address the program passed.
pub(super) fn int_at(address: usize, at: usize) -> c_int {
    let place = std::ptr::with_exposed_provenance::<c_int>(address).wrapping_add(at);
    // SAFETY: the program passed an array that has an int at this place, which MPI filled.
    unsafe { place.read() }
}
