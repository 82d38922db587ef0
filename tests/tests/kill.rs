//! A program killed by SIGKILL at any moment: what had reached the disk becomes a valid graph, marked incomplete,
//! that holds every whole chunk of every thread.
//!
//! The test kills 30 times, or as often as `CONTECH_KILLS` says (200 for the record).

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use contech_tests::process::run;
use contech_tests::recording::{compare, middle, verify};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

/// Four threads that never end: loops over arrays, a list, allocations, a mutex and a barrier.
const LOAD: &str = r"
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t b;
static long sum, a[4][4096];
struct node { struct node *next; long v; };
static void *work(void *p) {
    long *mine = a[(long)p], seed = (long)p + 1;
    for (;;) {
        struct node *list = 0;
        for (int i = 0; i < 4096; i++) mine[i] += i;
        for (int i = 0; i < 100; i++) {
            struct node *n = malloc(sizeof *n);
            n->next = list; n->v = seed = seed * 1103515245 + 12345; list = n;
            mine[n->v & 4095]++;
            pthread_mutex_lock(&m); sum += n->v; pthread_mutex_unlock(&m);
        }
        while (list) { struct node *n = list->next; free(list); list = n; }
        pthread_barrier_wait(&b);
    }
    return 0;
}
int main(void) {
    pthread_t t[4];
    pthread_barrier_init(&b, 0, 4);
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
";

fn kills() -> u64 {
    let said = std::env::var("CONTECH_KILLS").ok();
    said.and_then(|n| n.parse().ok()).unwrap_or(30)
}

#[test]
fn a_killed_program_leaves_a_valid_graph_of_all_whole_chunks() {
    let scratch = Scratch::new("kill").unwrap();
    let source = scratch.write("load.c", LOAD).unwrap();
    let program = scratch.join("load");
    let mut compiler = Command::new(Toolchain::contech().compiler(false));
    compiler
        .args(["-O2", "-pthread", "-o"])
        .arg(&program)
        .arg(source);
    run(&mut compiler).unwrap().ok().unwrap();
    let (trace, graph) = (scratch.join("trace.bin"), scratch.join("graph.tg"));
    let mut random = 88_172_645_463_325_252u64;
    let mut with_data = 0;
    for round in 0..kills() {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let _ = fs::remove_file(&trace);
        let mut child = Command::new(&program)
            .env("CONTECH_TRACE", &trace)
            .env("CONTECH_BUFFER", "64K")
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // The kill comes between the first instruction and some megabytes of trace.
        thread::sleep(Duration::from_micros(random % 60_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let size = fs::metadata(&trace).map_or(0, |m| m.len());
        let done = middle(&trace, &graph).unwrap();
        if size < 64 {
            // The program was killed before there was a file, or its header.
            assert_eq!(done.outcome(), "exit 1", "round {round}: {done}");
            continue;
        }
        assert_eq!(
            done.outcome(),
            "exit 3",
            "round {round}, {size} bytes: {done}"
        );
        verify(&graph).unwrap();
        assert!(!taskgraph::map(&graph).unwrap().meta().complete);
        compare(&trace, &graph).unwrap();
        with_data += u64::from(size > 100_000);
    }
    assert!(with_data > kills() / 4, "only {with_data} had data");
    scratch.done();
}
