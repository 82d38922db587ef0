//! Tests of the middle layer on synthetic traces.

mod atomics;
mod bounds;
mod check;
mod command;
mod damage;
mod graph;
mod rules;
mod trace;
