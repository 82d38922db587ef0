//! Tests of the middle layer on synthetic traces.

mod bounds;
mod cases;
mod check;
mod command;
mod damage;
mod fuzz;
mod graph;
mod memory;
mod robust;
mod times;
mod trace;
