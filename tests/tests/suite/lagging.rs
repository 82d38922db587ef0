//! A writer that lags behind the program: it shares one processor with the program, and writes to a
//! reader that first rests and then is slow. The trace must be whole whatever is recorded and
//! however it is handed over: both forms of the run (`--contech-check`) must agree.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use contech_tests::process::{LIMIT, run};
use contech_tests::random::way::lag;
use contech_tests::recording::{made, middle};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

/// Tasks of a tree, each with some work.
const TASKS: &str = r"
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *child[4]; long value[24]; };
static struct node *build(int depth) {
    struct node *n = calloc(1, sizeof *n);
    for (int i = 0; i < 24; i++) n->value[i] = depth * 31 + i;
    for (int i = 0; i < 4 && depth; i++) n->child[i] = build(depth - 1);
    return n;
}
static long visit(struct node *n, int round) {
    long part[4] = {0}, sum = 0;
    for (int i = 0; i < 4; i++)
        if (n->child[i]) {
#pragma omp task KIND shared(part) firstprivate(i)
            part[i] = visit(n->child[i], round);
        }
    for (int k = 0; k < 24; k++) {
        n->value[k] += (n->value[(k * 7 + round) % 24] ^ k) & 15;
        sum += n->value[k];
    }
#pragma omp taskwait
    return sum + part[0] + part[1] + part[2] + part[3];
}
int main(void) {
    struct node *root = build(5);
    long sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int r = 0; r < 5; r++) sum += visit(root, r);
    printf(FORMAT, sum);
}
";

/// Threads that take locks and come and go.
const THREADS: &str = r#"
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long sum, a[64];
static void *work(void *p) {
    for (long i = 0; i < 2000; i++) {
        a[(i * 7919 + (long)p) & 63] += i;
        pthread_mutex_lock(&m);
        sum += i;
        pthread_mutex_unlock(&m);
    }
    return p;
}
int main(void) {
    for (int round = 0; round < 10; round++) {
        pthread_t t[3];
        for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, work, (void *)(i << 4));
        for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    }
    return sum != 10 * 3 * 1999000;
}
"#;

/// A handler that fills buffers of its own, on top of code that fills its buffer.
const SIGNALS: &str = r"
#include <signal.h>
#include <sys/time.h>
static volatile long ticks, a[64];
static long walk(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) { if (i % 3) a[i * i & 63] += i; sum += a[i & 63]; }
    return sum;
}
static void handler(int s) { ticks++; walk(5000 + s); }
int main(void) {
    struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &every, 0);
    while (ticks < 30) walk(1000);
    setitimer(ITIMER_REAL, &never, 0);
    return 0;
}
";

/// Records a program whose writer lags, twice: to a slow reader, and to a file with half a buffer
/// of memory, so that the program pauses for the writer at every buffer.
fn records_exactly(name: &str, source: &str, flags: &[&str]) {
    let scratch = Scratch::new(name).unwrap();
    let flags = [&["-O2", "--contech-check", "-pthread"], flags].concat();
    let program = Toolchain::contech().text(&scratch, "program.c", source, &flags).unwrap();
    let trace = scratch.join("trace.bin");
    for slow in [true, false] {
        let done = if slow {
            let program = Path::new(program.get_program());
            lag(program, &trace, Duration::from_millis(300), LIMIT)
        } else {
            let mut command = Command::new("taskset");
            command.args(["-c", "0"]).arg(program.get_program()).env("CONTECH_TRACE", &trace);
            run(command.env("CONTECH_BUFFER", "32K").env("CONTECH_MEMORY", "1"))
        };
        done.unwrap().ok().unwrap();
        let (_, compared) = made(&trace, true).unwrap();
        assert!(compared > 10_000, "{compared} blocks were compared");
        fs::remove_file(&trace).unwrap();
    }
    scratch.done().unwrap();
}

/// Threads that never end.
const ENDLESS: &str = r"
static volatile long a[64];
int main(void) {
    for (long i = 0;; i++) if (i % 3) a[i * i & 63] += i;
}
";

#[test]
fn the_trace_of_a_killed_program_says_that_its_file_did_not_keep_up() {
    let scratch = Scratch::new("behind").unwrap();
    let contech = Toolchain::contech();
    let mut command = contech.text(&scratch, "program.c", ENDLESS, &["-O2"]).unwrap();
    let [trace, graph, fifo] = ["trace.bin", "graph.tg", "fifo"].map(|name| scratch.join(name));
    run(Command::new("mkfifo").arg(&fifo)).unwrap().ok().unwrap();
    command.env("CONTECH_TRACE", &fifo);
    command.env("CONTECH_BUFFER", "32K").env("CONTECH_MEMORY", "64M");
    let mut child = command.spawn().unwrap();
    // What fills the pipe is written at once. What comes then waits for this reader.
    let mut from = File::open(&fifo).unwrap();
    thread::sleep(Duration::from_secs(1));
    let mut bytes = vec![0; 1 << 20];
    from.read_exact(&mut bytes).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    fs::write(&trace, bytes).unwrap();
    let done = middle(&trace, &graph).unwrap().expect("exit 3").unwrap();
    let said = done.json().unwrap();
    let notes = said["notes"].as_array().unwrap();
    let told = notes.iter().find(|n| n["text"].as_str().unwrap().contains("did not keep up"));
    assert_eq!(told.unwrap()["missing"], true, "{done}");
    scratch.done().unwrap();
}

#[test]
fn a_lagging_writer_writes_what_was_recorded() {
    let tasks = ["-fopenmp", r#"-DFORMAT="%ld\n""#];
    records_exactly("lagging-tied", TASKS, &[&tasks[..], &["-DKIND="]].concat());
    records_exactly("lagging-untied", TASKS, &[&tasks[..], &["-DKIND=untied"]].concat());
    records_exactly("lagging-threads", THREADS, &[]);
    records_exactly("lagging-signals", SIGNALS, &[]);
}
