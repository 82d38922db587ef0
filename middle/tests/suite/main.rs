//! Tests of the middle layer on synthetic traces.

mod bounds;
mod cases;
mod check;
mod command;
mod damage;
mod graph;
mod times;
mod trace;
