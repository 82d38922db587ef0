//! Tests of the middle layer on synthetic traces.

mod atomics;
mod bounds;
mod check;
mod command;
mod damage;
mod fuzz;
mod graph;
mod memory;
mod robust;
mod rules;
mod times;
mod trace;
