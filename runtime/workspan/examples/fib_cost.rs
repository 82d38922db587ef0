//! What the work-span algorithm costs by itself: fib(N) without a program around it, for `valgrind --tool=callgrind`.
//! Prints the invocations and the work.

use workspan::{Kind, Shadow, Site};

fn fib(shadow: &mut Shadow, id: u32, kind: Kind, n: u32) -> u64 {
    let site = Site {
        id,
        caller: 1,
        kind,
    };
    if n < 2 {
        shadow.leaf(site, 1);
        return 1;
    }
    shadow.enter(site);
    shadow.advance(1);
    let first = fib(shadow, 1, Kind::Spawn, n - 1);
    shadow.advance(1);
    let second = fib(shadow, 2, Kind::Call, n - 2);
    shadow.advance(1);
    shadow.sync();
    shadow.advance(1);
    shadow.leave();
    first + second + 1
}

fn main() {
    let n = std::env::args().nth(1).and_then(|n| n.parse().ok());
    let mut shadow = Shadow::default();
    let invocations = fib(&mut shadow, 0, Kind::Call, n.unwrap_or(20));
    let work = shadow.on_work(0).top_call_site.work;
    println!("{invocations} invocations, work {work}");
}
