//! Parts of a run without accesses: after the limit of the trace (`CONTECH_LIMIT`), and outside of
//! the region of interest (`CONTECH_ROI`) and of the windows of a sample (`CONTECH_SAMPLE`). What
//! is recorded is what a full recording has there, and order is that of the whole run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use contech_tests::matrix::ways;
use contech_tests::recording::{Recording, backend, fine};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;
use taskgraph::{AccessesOf, Action, NoteKind, SyncOp, TaskKind};

/// Threads that work on their own parts of an array, and take a lock and allocate after each round;
/// handlers come in between. `WORK` says which rounds are in the region of interest.
const ROUNDS: &str = r"
#include <contech/observe.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#define ROUNDS 1600
#ifndef PAUSE
#define PAUSE 0
#endif
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long a[3][512], sum, handled;
static atomic_long flag;
static __attribute__((noinline)) long mix(long *mine, long seed) {
    for (int i = 0; i < 512; i++) mine[(seed >> 16) & 511] += i, seed = seed * 1103515245 + 12345;
    return seed;
}
static void handler(int n) { handled += n; }
static void *work(void *p) {
    long self = (long)p, seed = self + 1;
    for (int round = 0; round < ROUNDS; round++) {
        if (self == 0 && round == 400) contech_region_begin();
        if (self == 0 && round == 1200) contech_region_end();
        seed = mix(a[self], seed);
        long *kept = malloc(64);
        kept[round & 7] = seed;
        pthread_mutex_lock(&m);
        sum += kept[round & 7] & 1;
        pthread_mutex_unlock(&m);
        atomic_fetch_add(&flag, 1);
        free(kept);
        if (PAUSE && round % 25 == 0) usleep(500);
        if (round % 50 == 7 && self == 0) pthread_kill(pthread_self(), SIGUSR1);
    }
    return p;
}
int main(void) {
    signal(SIGUSR1, handler);
    pthread_t t[THREADS];
    for (long i = 1; i < THREADS; i++) pthread_create(&t[i], 0, work, (void *)i);
    work(0);
    for (long i = 1; i < THREADS; i++) pthread_join(t[i], 0);
    return sum > 3 * ROUNDS;
}
";

fn build(scratch: &Scratch, threads: u32) -> PathBuf {
    build_with(scratch, threads, &[])
}

fn build_with(scratch: &Scratch, threads: u32, defines: &[&str]) -> PathBuf {
    let threads = format!("-DTHREADS={threads}");
    let flags = [&["-O1", "-g", "-pthread", &threads], defines].concat();
    Toolchain::contech().text(scratch, "rounds.c", ROUNDS, &flags).unwrap();
    scratch.join("rounds")
}

/// The first thread's stack is above this address. Where in it something is depends on the
/// environment.
const STACK: u64 = 0x7fff_f800_0000;

/// A block, and the places in their pages that it accessed.
type Block = (u32, Vec<u64>);

/// What a context did: its blocks with the places in their pages that they accessed, and its
/// operations on objects.
#[derive(Debug, Default, PartialEq)]
struct Did {
    blocks: Vec<Block>,
    operations: Vec<SyncOp>,
}

fn did(graph: &Path) -> BTreeMap<u32, Did> {
    let graph = taskgraph::map(graph).unwrap();
    let mut did = BTreeMap::<u32, Did>::new();
    let context = |of: taskgraph::Task<'_, _>| of.id().context.get();
    for task in graph.tasks() {
        let task = task.unwrap();
        let did = did.entry(context(task.clone())).or_default();
        if task.kind() != TaskKind::Work && task.op() != SyncOp::Delay {
            did.operations.push(task.op());
        }
        task.for_each_action(|action| {
            if let Action::Block(block) = action {
                let place = |addr| if addr < STACK { addr & 0xfff } else { 0 };
                let operands = block.accesses().map(|access| place(access.addr)).collect();
                did.blocks.push((block.id().get(), operands));
            }
        })
        .unwrap();
    }
    did
}

fn record(program: &Path, dir: &Path, set: &[(&str, &str)]) -> (PathBuf, String) {
    let mut command = Command::new("setarch");
    command.arg("-R").arg(program).envs(set.iter().copied());
    let (run, graph) = Recording::whole(&mut command, dir).unwrap();
    // Every synchronisation is a task there.
    (fine(&graph), run.err())
}

/// Compares a recording of a part with the whole one: each context has the same operations, and its
/// blocks are as told. How many blocks the part has, and the whole.
fn compared(part: &Path, whole: &Path, told: impl Fn(&[Block], &[Block]) -> bool) -> [usize; 2] {
    let (some, all) = (did(part), did(whole));
    assert_eq!(all.len(), some.len());
    for (context, some) in &some {
        let all = &all[context];
        assert_eq!(all.operations, some.operations, "context {context}");
        assert!(told(&some.blocks, &all.blocks), "context {context}");
    }
    [some, all].map(|of| of.values().map(|did| did.blocks.len()).sum())
}

#[test]
fn at_the_limit_accesses_stop_and_order_goes_on() {
    let scratch = Scratch::new("limit").unwrap();
    for threads in [1, 3] {
        // Work in short pieces over many windows of the sample: some fall in, some do not.
        let program = build_with(&scratch, threads, &["-DPAUSE=1"]);
        let dir = |kind| scratch.join(format!("{kind}{threads}"));
        let (whole, said) = record(&program, &dir("whole"), &[]);
        assert!(!said.contains("limit"), "{said}");
        let small = [("CONTECH_LIMIT", "400K"), ("CONTECH_BUFFER", "64K")];
        let (limited, said) = record(&program, &dir("limited"), &small);
        assert!(said.contains("which is its limit (CONTECH_LIMIT)"), "{said}");
        let [some, all] = compared(&limited, &whole, |some, all| all.starts_with(some));
        assert!(some > 0 && some * 2 < all);
        let graph = taskgraph::map(&limited).unwrap();
        let unrecorded = graph.meta().unrecorded.unwrap();
        let since = unrecorded.since_ns.unwrap();
        assert_eq!(unrecorded.of, AccessesOf::Limit);
        assert!(since > 0 && since < graph.summary().duration_ns);
        let note = &graph.meta().notes[0];
        assert_eq!(note.kind, NoteKind::Accesses);
        assert!(graph.meta().complete && graph.meta().notes.len() > 1);
        // Every analysis says so, and nothing else is missing.
        let told = backend(&["stats"], &limited).unwrap().ok().unwrap();
        assert!(told.to_string().contains("the trace reached its limit"), "{told}");
        let work = |path| {
            let graph = taskgraph::map(path).unwrap();
            let work = graph.tasks().map(|t| t.unwrap());
            let work = work.filter(|t| t.kind() == TaskKind::Work && t.start_ns() > since);
            work.map(|t| t.duration_ns()).sum::<u64>()
        };
        assert!(work(&limited) > 0, "work without accesses has its time");
    }
    scratch.done().unwrap();
}

#[test]
fn within_the_marks_is_what_a_full_recording_has_there() {
    let scratch = Scratch::new("region").unwrap();
    let program = build(&scratch, 1);
    let (whole, _) = record(&program, &scratch.join("whole"), &[]);
    let (region, _) = record(&program, &scratch.join("region"), &[("CONTECH_ROI", "1")]);
    // The part has no gaps.
    let [some, all] = compared(&region, &whole, |some, all| {
        all.windows(some.len().max(1)).any(|window| window == some)
    });
    let marked = taskgraph::map(&whole).unwrap();
    let [(from, to)] = marked.meta().regions[..] else {
        panic!("one region is marked");
    };
    // The marks are in the graph of the full recording, too.
    let within = marked.tasks().map(|t| t.unwrap());
    let within = within.filter(|t| t.start_ns() >= from && t.end_ns() <= to);
    let within: u64 = within.map(|t| t.block_count()).sum();
    assert!(some as u64 >= within && some < all * 2 / 3);
    let graph = taskgraph::map(&region).unwrap();
    assert_eq!(graph.meta().unrecorded.unwrap().of, AccessesOf::Region);
    assert_eq!(graph.meta().regions.len(), 1);
    scratch.done().unwrap();
}

/// A function that is inlined, one that calls itself, and one that throws through two of its own
/// frames; `mark` has the same regions by hand.
const FUNCTIONS: &str = r"
#include <contech/observe.h>
#ifdef MARKED
struct Mark { Mark() { contech_region_begin(); } ~Mark() { contech_region_end(); } };
#else
struct Mark { Mark() {} };
#endif
static volatile long a[512], outside[512];
__attribute__((noinline)) static void rest() { for (int i = 0; i < 512; i++) outside[i] += i; }
namespace part {
static void inlined(int n) { Mark m; for (int i = 0; i < n; i++) a[i & 511] += i; }
__attribute__((noinline)) static int nested(int n) {
    Mark m;
    a[n] += n;
    if (n == 0) throw 1;
    return nested(n - 1) + n;
}
}
int main() {
    rest();
    part::inlined(1000);
    rest();
    try { part::nested(20); } catch (int) { rest(); }
    part::inlined(10);
    rest();
}
";

#[test]
fn within_functions_is_what_is_within_marks_there() {
    let scratch = Scratch::new("functions").unwrap();
    let source = scratch.write("functions.cpp", FUNCTIONS).unwrap();
    for level in ways("functions", &["-O0", "-O2"]) {
        let graph = |name: &str, flags: &[&str]| {
            let program = scratch.join(format!("{name}{level}"));
            let flags = [&[level], flags].concat();
            Toolchain::contech().compile(&source, &flags, &program).unwrap();
            let dir = scratch.join(format!("{name}{level}.run"));
            record(&program, &dir, &[("CONTECH_ROI", "1")]).0
        };
        let chosen = ["--contech-region=part::inlined", "--contech-region=part::nested"];
        let (marked, chosen) = (graph("marked", &["-DMARKED"]), graph("chosen", &chosen));
        let regions = |path: &Path| taskgraph::map(path).unwrap().meta().regions.len();
        assert_eq!((regions(&marked), regions(&chosen)), (3, 3), "{level}");
        let unrecorded = taskgraph::map(&chosen).unwrap().meta().unrecorded.unwrap();
        assert_eq!(unrecorded.of, AccessesOf::Region);
        // What the functions access is recorded (a load and a store each time), and what `rest`
        // does is not: it would be 1024 more at each call. A few more are the runtime's of C++.
        let mut accessed = 0;
        for task in taskgraph::map(&chosen).unwrap().tasks() {
            task.unwrap()
                .for_each_action(|action| {
                    if let Action::Block(block) = action {
                        accessed += block.accesses().filter(|a| a.addr < STACK).count();
                    }
                })
                .unwrap();
        }
        let least = 2 * (1000 + 21 + 10);
        assert!((least..least + 512).contains(&accessed), "{level}: {accessed}");
    }
    scratch.done().unwrap();
}

/// Whether `part` is `whole` with gaps.
fn is_part<T: PartialEq>(part: &[T], whole: &[T]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|item| rest.any(|other| other == item))
}

#[test]
fn a_sample_has_the_order_of_the_run_and_a_part_of_its_accesses() {
    let scratch = Scratch::new("sample").unwrap();
    for threads in [1, 3] {
        let program = build(&scratch, threads);
        let dir = |kind| scratch.join(format!("{kind}{threads}"));
        let (whole, _) = record(&program, &dir("whole"), &[]);
        let (sample, said) = record(&program, &dir("sample"), &[("CONTECH_SAMPLE", "1/4")]);
        assert!(!said.contains("CONTECH_SAMPLE"), "{said}");
        let [some, all] = compared(&sample, &whole, is_part);
        assert!(some > 0 && some < all);
        let meta = taskgraph::map(&sample).unwrap();
        assert_eq!(meta.meta().unrecorded.unwrap().of, AccessesOf::Sample);
        let told = backend(&["stats"], &sample).unwrap().ok().unwrap();
        assert!(told.to_string().contains("accesses are a sample"), "{told}");
    }
    let (_, said) = record(&build(&scratch, 1), &scratch.join("bad"), &[("CONTECH_SAMPLE", "10%")]);
    assert!(said.contains("CONTECH_SAMPLE=10% is not 1, or 1/2 to 1/1000"), "{said}");
    scratch.done().unwrap();
}

#[test]
fn a_window_of_time_before_or_after_the_run_has_order_and_no_accesses() {
    let scratch = Scratch::new("time").unwrap();
    let program = build(&scratch, 3);
    let (whole, _) = record(&program, &scratch.join("whole"), &[]);
    for (window, recorded) in [("time:1000s-2000s", false), ("time:0s-1000s", true)] {
        let (graph, _) = record(&program, &scratch.join(window), &[("CONTECH_ROI", window)]);
        compared(&graph, &whole, |some, all| if recorded { some == all } else { some.is_empty() });
    }
    scratch.done().unwrap();
}

#[test]
fn a_comparison_of_both_forms_ends_at_the_limit() {
    let scratch = Scratch::new("checked").unwrap();
    let program = build_with(&scratch, 3, &["--contech-check"]);
    let mut command = Command::new(&program);
    command.env("CONTECH_LIMIT", "1M").env("CONTECH_BUFFER", "64K");
    let recording = Recording::of(&mut command, scratch.dir()).unwrap();
    recording.run.clone().ok().unwrap();
    let (_, compared) = recording.checked(true).unwrap();
    assert!(compared > 1000, "{compared} blocks were compared");
    scratch.done().unwrap();
}
