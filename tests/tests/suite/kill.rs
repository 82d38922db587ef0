//! A program killed by SIGKILL at any moment: what had reached the disk becomes a valid graph,
//! marked incomplete, that holds every whole chunk of every thread. It says since when records are
//! missing, and no older ones are but for a buffer of each thread.
//!
//! The test kills 12 times, or as often as `CONTECH_KILLS` says (200 for the record).

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use contech_tests::recording::{compare, middle, verify};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;
use taskgraph::{Action, Note, SyncOp};

/// Four threads that never end: loops over arrays, a list, allocations, a mutex and a barrier. Each
/// notes in a file shared with the test when it ended its rounds.
const LOAD: &str = r"
#include <pthread.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <x86intrin.h>
#define ROUNDS 8192
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t b;
static long sum, a[4][4096];
static volatile unsigned long long *ended;
struct node { struct node *next; long v; };
static void *work(void *p) {
    long *mine = a[(long)p], seed = (long)p + 1;
    for (int round = 0;; round++) {
        struct node *list = 0;
        for (int i = 0; i < 4096; i++) mine[i] += i;
        for (int i = 0; i < 100; i++) {
            struct node *n = malloc(sizeof *n);
            n->next = list; n->v = seed = seed * 1103515245 + 12345; list = n;
            mine[n->v & 4095]++;
            pthread_mutex_lock(&m); sum += n->v; pthread_mutex_unlock(&m);
        }
        while (list) { struct node *n = list->next; free(list); list = n; }
        if (round < ROUNDS) ended[(long)p * ROUNDS + round] = __rdtsc();
        pthread_barrier_wait(&b);
    }
    return 0;
}
int main(int argc, char **argv) {
    int log = open(argv[argc - 1], O_RDWR);
    ended = mmap(0, 4 * ROUNDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, log, 0);
    pthread_t t[4];
    pthread_barrier_init(&b, 0, 4);
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
";

const ROUNDS: usize = 8192;
/// Locks in a round.
const LOCKS: usize = 100;
const BUFFER: u64 = 64 << 10;

/// What the note about the end says, in ticks.
fn missing_since(notes: &[Note], hz: u64) -> u64 {
    let text = notes.iter().find_map(|n| n.text.split_once("recorded after ")).unwrap().1;
    let (seconds, _) = text.split_once(" s,").unwrap();
    // The milliseconds are rounded.
    let ms = seconds.replace('.', "").parse::<u64>().unwrap().saturating_sub(1);
    ms * hz / 1000
}

/// All rounds that ended before the moment the graph names are in it, but for a buffer of each
/// thread.
fn compare_with_log(trace: &Path, graph: &Path, log: &Path) {
    let graph = taskgraph::map(graph).unwrap();
    let start = u64::from_le_bytes(fs::read(trace).unwrap()[24..32].try_into().unwrap());
    let hz = match graph.meta().clock_hz {
        0 => 1_000_000_000,
        hz => hz,
    };
    let since = start + missing_since(&graph.meta().notes, hz);
    let mut locks = [0; 5];
    for task in graph.tasks() {
        let task = task.unwrap();
        let own = &mut locks[task.id().context.get() as usize];
        let lock = |action: Action<'_>| {
            let op = SyncOp::MutexLock;
            *own += usize::from(matches!(action, Action::Sync { op: o, .. } if o == op));
        };
        task.for_each_action(lock).unwrap();
    }
    let log = fs::read(log).unwrap();
    let ended: Vec<u64> = log.as_chunks().0.iter().map(|b| u64::from_le_bytes(*b)).collect();
    for (thread, ended) in ended.chunks(ROUNDS).enumerate() {
        let before = ended.iter().filter(|at| (1..since).contains(*at)).count();
        // A lock and an unlock are 36 bytes each, and there is more in a round.
        let missing = (before * LOCKS).saturating_sub(locks[thread + 1]) as u64;
        assert!(missing * 72 <= BUFFER, "thread {thread} lacks {missing} of {before} rounds");
    }
}

fn kills() -> u64 {
    let said = std::env::var("CONTECH_KILLS").ok();
    said.and_then(|n| n.parse().ok()).unwrap_or(12)
}

#[test]
fn a_killed_program_leaves_a_valid_graph_of_all_whole_chunks() {
    let scratch = Scratch::new("kill").unwrap();
    let flags = ["-O2", "-pthread"];
    let program = Toolchain::contech().text(&scratch, "load.c", LOAD, &flags).unwrap();
    let (trace, graph) = (scratch.join("trace.bin"), scratch.join("graph.tg"));
    let log = scratch.join("log");
    let mut random = fastrand::Rng::with_seed(7);
    let mut with_data = 0;
    for round in 0..kills() {
        let _ = fs::remove_file(&trace);
        fs::write(&log, vec![0; 4 * ROUNDS * 8]).unwrap();
        let mut child = Command::new(program.get_program())
            .arg(&log)
            .env("CONTECH_TRACE", &trace)
            .env("CONTECH_BUFFER", BUFFER.to_string())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // The kill comes between the first instruction and some megabytes of trace.
        thread::sleep(Duration::from_micros(random.u64(..60_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        let size = fs::metadata(&trace).map_or(0, |m| m.len());
        let done = middle(&trace, &graph).unwrap();
        if size < 64 {
            // The program was killed before there was a file, or its header.
            assert_eq!(done.outcome(), "exit 1", "round {round}: {done}");
            continue;
        }
        assert_eq!(done.outcome(), "exit 3", "round {round}, {size} bytes: {done}");
        verify(&graph).unwrap();
        assert!(!taskgraph::map(&graph).unwrap().meta().complete);
        compare(&trace, &graph).unwrap();
        compare_with_log(&trace, &graph, &log);
        with_data += u64::from(size > 100_000);
    }
    assert!(with_data > kills() / 4, "only {with_data} had data");
    scratch.done().unwrap();
}
