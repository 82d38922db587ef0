#![doc = include_str!("../FORMAT.md")]
#![forbid(unsafe_code)]

mod file;
mod model;

pub use file::{Error, MAGIC, VERSION};
pub use model::{Lane, Model, Module, Observation, Phase, Place, State, Times, WaitSite};
