//! What atomic operations cost while the program is recorded. Only a thread that does nothing but
//! try puts its next try off; the statistics count how often that was.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use contech_tests::matrix::ways;
use contech_tests::process::run;
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

/// Operations that change nothing, with work between them; for the last kind, a thread that spins.
const QUIET: &str = r"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
static atomic_int flag;
static volatile _Atomic int cancelled;
static int sum;
static __attribute__((noinline)) int work(int i) { return sum ^ i; }
static void *release(void *arg) {
    usleep(20000);
    atomic_store(&flag, 0);
    return arg;
}
int main(int argc, char **argv) {
    pthread_t t;
    if (argv[1][0] == 's') {
        flag = 1;
        pthread_create(&t, 0, release, 0);
        while (atomic_exchange(&flag, 1)) {}
        return pthread_join(t, 0);
    }
    for (int i = 0; i < 2000; i++) {
        sum += work(i);
        switch (argv[1][0]) {
        case 'x': atomic_exchange(&flag, 0); break;
        case 'o': atomic_fetch_or(&flag, 1); break;
        case 'c': { int old = 5; atomic_compare_exchange_strong(&flag, &old, 5); break; }
        case 'l': if (atomic_load(&cancelled)) return 1; break;
        }
    }
    return 0;
}
";

#[test]
fn only_a_thread_that_does_nothing_but_try_puts_its_tries_off() -> Result<()> {
    let scratch = Scratch::new("atomics/quiet")?;
    for level in ways("quiet", &["-O0", "-O1", "-O2", "-O3"]) {
        let flags = [level, "-g", "-pthread"];
        let program = Toolchain::contech().text(&scratch, "quiet.c", QUIET, &flags)?;
        for kind in ["x", "o", "c", "l", "s"] {
            let stats = scratch.join("stats.json");
            let mut command = Command::new(program.get_program());
            command.arg(kind).env("CONTECH_TRACE", "null");
            run(command.env("CONTECH_STATS", &stats))?.ok()?;
            let stats: serde_json::Value = serde_json::from_slice(&fs::read(stats)?)?;
            let put_off = stats["put_off"].as_u64().context("a number")?;
            ensure!((put_off > 0) == (kind == "s"), "{kind} {level}: put off {put_off} times");
        }
    }
    scratch.done()
}
