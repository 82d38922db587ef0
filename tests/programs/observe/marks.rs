//! Idle, scheduling and a phase by the program's own word, within a region of interest of about 300 ms.
mod observe;

use std::time::{Duration, Instant};

fn work() {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(100) {}
}

fn main() {
    observe::phase_begin(c"before");
    work();
    observe::phase_end();
    observe::region_begin();
    observe::idle_begin();
    work();
    observe::idle_end();
    observe::phase_begin(c"marked");
    observe::scheduling_begin();
    work();
    observe::scheduling_end();
    observe::phase_end();
    observe::region_end();
    work();
    observe::region_begin();
    work();
    observe::region_end();
    work();
    println!("marked");
}
