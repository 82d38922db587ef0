#![doc = include_str!("../FORMAT.md")]
#![forbid(unsafe_code)]

mod file;
mod model;

pub use file::{Error, MAGIC, VERSION};
pub use model::{
    Alone, Lane, Model, Module, Observation, Phase, Pirate, Place, State, Times, WaitSite,
};
