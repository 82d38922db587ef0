//! Rust programs: rustc writes bitcode, and the link instruments it.
//!
//! `cargo contech` ([`cargo`]) runs cargo with this program in front of rustc ([`rustc`]), which
//! asks for objects of bitcode and for `contech-cc --contech-bitcode` as the linker. That link
//! ([`link`]) finds the bitcode of all crates and of the standard library ([`bitcode`]), has clang
//! instrument and compile it, and keeps the results ([`store`]). The toolchain's own archives carry
//! bitcode, too, so the standard library needs no sources ([`toolchain`]).

pub(crate) mod bitcode;
pub(crate) mod cargo;
pub(crate) mod link;
pub(crate) mod rustc;
pub(crate) mod store;
pub(crate) mod tasks;
pub(crate) mod toolchain;
