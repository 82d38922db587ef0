//! Graphs as they are written and read, in one executable, so that they are linked once.

mod damage;
mod leafy_loops;
mod paths;
mod recorder;
mod round_trip;
mod turns;
mod ways_to_read;
mod writer;
