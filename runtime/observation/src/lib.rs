#![doc = include_str!("../FORMAT.md")]
#![forbid(unsafe_code)]

mod model;

pub use model::{Lane, Model, Module, Observation, Phase, Place, State, Times, WaitSite};
