//! Programs with and without a planted race: each race is found where it is, and none is invented.
//! The cases and their names are in `tests/races`, in the style of the suites by which race
//! detectors are compared.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use contech_tests::matrix::ways;
use contech_tests::outputs::workspace;
use contech_tests::recording::{self, Recording, backend, backend_json, middle};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;
use serde_json::{Value, json};

/// Names of the functions on both sides of each race of a case.
fn races(program: &str, case: &str, form: &str, scratch: &Scratch) -> Result<Vec<[String; 2]>> {
    let mut command = Command::new(scratch.join(program));
    command.args([case, form]).env("OMP_NUM_THREADS", "2");
    command.env("OMP_CANCELLATION", "true");
    let recording = Recording::of(&mut command, &scratch.join(format!("{case}.{form}")))?;
    recording.run.clone().ok()?;
    // Whether graphs are exact is what the programs have trials for. Here a commit asks it of every
    // fourth case.
    let graph = if ways(case, &[true, false, false, false]).contains(&true) {
        recording.graphs(true)?.remove(0)
    } else {
        let trace = recording.traces.first().context("a trace")?;
        let graph = trace.with_extension("tg");
        middle(trace, &graph)?.ok()?;
        graph
    };
    recording::races(&graph)
}

/// Checks every case of a program; returns how many there were.
fn check(source: &str, level: &str, flags: &[&str]) -> Result<usize> {
    let scratch = Scratch::new(&format!("races/{source}{level}"))?;
    let (program, language) = source.split_once('.').context("a source file")?;
    let source = workspace().join("tests/races").join(source);
    let modules = scratch.dir().display().to_string();
    let own = if language == "f90" { ["-J", &modules] } else { ["-pthread", "-w"] };
    // Without the optimiser, calls of the mathematical library stay.
    let flags = [&[level, "-g", "-lm"], &own[..], flags].concat();
    Toolchain::contech().compile(&source, &flags, &scratch.join(program))?;
    let text = fs::read_to_string(&source)?;
    let case = |line: &str| {
        let rest = line.strip_prefix("  CASE(");
        let rest = rest.or_else(|| line.strip_prefix("  case ('"))?;
        Some(rest.split([',', ')', '\'']).next()?.to_owned())
    };
    let cases: Vec<String> = text.lines().filter_map(case).collect();
    for case in &cases {
        let racy = races(program, case, "racy", &scratch)?;
        assert!(!racy.is_empty(), "{case}: missed");
        for side in racy.iter().flatten().filter(|_| language != "cpp") {
            // The function that clang makes of a task has no name of the program's.
            let outlined = side.starts_with(".omp_task_entry");
            assert!(outlined || side.contains(case), "{case}: a race in {side}");
        }
        let fixed = races(program, case, "fixed", &scratch)?;
        assert!(fixed.is_empty(), "{case}: invented {fixed:?}");
    }
    scratch.done()?;
    Ok(cases.len())
}

/// Sources, the options with which they are compiled, and how many cases they have at the least.
const PLANTED: [(&str, &[&str], usize); 7] = [
    ("threads.c", &[], 24),
    ("atomics.cpp", &["-std=c++20"], 35),
    // Beside order of the system.
    ("kernel.c", &[], 50),
    ("openmp.c", &["-fopenmp"], 10),
    ("worksharing.c", &["-fopenmp"], 37),
    ("tasks.c", &["-fopenmp"], 25),
    ("fortran.f90", &["-fopenmp"], 20),
];

#[test]
fn planted_races_are_found_and_none_invented() -> Result<()> {
    for (source, flags, least) in PLANTED {
        for level in ways(source, &["-O0", "-O1", "-O2"]) {
            let cases = check(source, level, flags)?;
            assert!(cases >= least, "{source} has {cases} cases");
        }
    }
    Ok(())
}

/// A program whose races are told in full.
const TOLD: &str = r"#include <pthread.h>
#include <stdlib.h>
struct cell { int hits; int misses[2]; };
static struct cell cells[4];
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static long *block;
static void count(void) { cells[2].misses[1]++; }
static void add(void) {
  static int sum;
  sum++;
  block[2]++;
}
static void *work(void *locks) {
  if (locks) pthread_mutex_lock(&guard);
  count();
  if (locks) pthread_mutex_unlock(&guard);
  add();
  return NULL;
}
static void make(void) { block = calloc(5, sizeof *block); }
int main(void) {
  pthread_t t[2];
  make();
  for (long i = 0; i < 2; i++)
    pthread_create(&t[i], NULL, work, (void *)i);
  for (int i = 0; i < 2; i++)
    pthread_join(t[i], NULL);
  return 0;
}
";

#[test]
fn a_race_is_told_with_its_variable_its_callers_and_its_locks() -> Result<()> {
    let scratch = Scratch::new("races/told")?;
    let flags = ["-O0", "-g", "-pthread"];
    let mut command = Toolchain::contech().text(&scratch, "told.c", TOLD, &flags)?;
    let (_, graph) = Recording::whole(&mut command, &scratch.join("traces"))?;
    let found = backend_json(&["races"], &graph)?;
    let races = found["races"].as_array().context("a list of races")?;
    // The line, and those of the calls that led there.
    let lines = |side: &Value| {
        let callers = side["callers"].as_array().cloned().unwrap_or_default();
        let all = std::iter::once(side.clone()).chain(callers);
        all.map(|place| place["line"].as_u64().unwrap_or(0)).collect::<Vec<_>>()
    };
    let of = |line: u64| {
        let race = races.iter().find(|race| lines(&race["a"])[0] == line);
        race.with_context(|| format!("no race in line {line}: {found:#}"))
    };
    let counted = of(7)?;
    assert_eq!(counted["variable"], "cells[2].misses[1]");
    for side in ["a", "b"] {
        assert_eq!(lines(&counted[side]), [7, 15]);
        assert_eq!(counted[side]["created"]["line"], 25);
    }
    let missing = counted["missing"].as_str().context("a sentence")?;
    assert!(missing.contains("holds lock guard (0x"), "{missing}");
    let summed = of(10)?;
    assert_eq!(summed["variable"], "sum");
    let missing = summed["missing"].as_str().context("a sentence")?;
    assert!(missing.contains("neither holds a lock"), "{missing}");
    let added = of(11)?;
    assert_eq!(lines(&added["a"]), [11, 17]);
    assert_eq!(added["variable"], Value::Null);
    let made = &added["made"];
    assert_eq!((&made["line"], &made["function"]), (&json!(20), &json!("make")));
    assert_eq!((&made["offset"], &made["size"]), (&json!(16), &json!(40)));
    let text = backend(&["races"], &graph)?.ok()?.out();
    for part in [
        "called in work (told.c:15)",
        "context created in main (told.c:25)",
        "cells[2].misses[1], at 0x",
        "byte 16 of the 40 allocated in make (told.c:20), at 0x",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    scratch.done()
}

/// A thread uses objects that main has destroyed, and made again or not.
const DESTROYED: &str = r"#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock;
static sem_t sem;
static void *use(void *n) {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  pthread_mutex_lock(&second);
  pthread_mutex_unlock(&second);
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_unlock(&lock);
  sem_post(&sem);
  return NULL;
}
static void make(void) {
  pthread_mutex_init(&mutex, NULL);
  second = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  pthread_rwlock_init(&lock, NULL);
  sem_init(&sem, 0, 1);
}
int main(int argc, char **argv) {
  pthread_t t;
  make();
  use(NULL);
  pthread_mutex_destroy(&mutex);
  pthread_mutex_destroy(&second);
  pthread_rwlock_destroy(&lock);
  sem_destroy(&sem);
  if (argc > 1) make();
  pthread_create(&t, NULL, use, NULL);
  pthread_join(t, NULL);
  return 0;
}
";

#[test]
fn uses_of_destroyed_objects_are_told_and_those_of_objects_made_again_are_not() -> Result<()> {
    let scratch = Scratch::new("races/destroyed")?;
    let flags = ["-O1", "-g", "-pthread"];
    let program = Toolchain::contech().text(&scratch, "destroyed.c", DESTROYED, &flags)?;
    let found = |words: &[&str]| -> Result<Value> {
        let mut command = Command::new(program.get_program());
        let dir = scratch.join(format!("traces{}", words.len()));
        backend_json(&["races"], &Recording::whole(command.args(words), &dir)?.1)
    };
    let wrong = found(&[])?;
    let all = wrong["destroyed"].as_array().context("a list")?;
    let told: Vec<_> = all
        .iter()
        .map(|use_after| {
            let text = |what: &str| use_after[what].as_str().unwrap_or("").to_owned();
            let line = |call: &str| use_after[call]["line"].as_u64().unwrap_or(0);
            (line("used"), text("operation"), text("variable"), line("destroyed"))
        })
        .collect();
    for (line, operation, variable, destroyed) in [
        (7, "mutex_try_fail", "mutex", 26),
        (9, "mutex_try_fail", "second", 27),
        (11, "rw_read", "lock", 28),
        (13, "sem_post", "sem", 29),
    ] {
        let want = (line, operation.to_owned(), variable.to_owned(), destroyed);
        assert!(told.contains(&want), "{want:?}: {told:?}");
    }
    let right = found(&["again"])?;
    assert_eq!(right["destroyed"], json!([]), "{right}");
    scratch.done()
}

/// One thread writes to a pipe through a ring of the kernel's and another reads from it; a third
/// one races with that.
const RING: &str = r#"#include <linux/io_uring.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
long x, y, z;
static int fd[2], ring;
static struct io_uring_params p;
static void *giver(void *n) {
  char *queue = mmap(0, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
  struct io_uring_sqe *entry = mmap(0, p.sq_entries * sizeof *entry, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
  x = 1;
  memset(entry, 0, sizeof *entry);
  entry->opcode = IORING_OP_WRITE;
  entry->fd = fd[1];
  entry->addr = (unsigned long)"a";
  entry->len = 1;
  ((unsigned *)(queue + p.sq_off.array))[0] = 0;
  __atomic_store_n((unsigned *)(queue + p.sq_off.tail), 1, __ATOMIC_RELEASE);
  syscall(SYS_io_uring_enter, ring, 1, 0, 0, 0, 0);
  return 0;
}
static void *taker(void *n) {
  char c;
  read(fd[0], &c, 1);
  y = x;
  z++;
  return 0;
}
static void *other(void *n) { z++; return 0; }
int main(void) {
  pthread_t t[3];
  pipe(fd);
  ring = syscall(SYS_io_uring_setup, 1, &p);
  if (ring < 0) return 3;
  pthread_create(&t[0], 0, giver, 0);
  pthread_create(&t[1], 0, taker, 0);
  pthread_create(&t[2], 0, other, 0);
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  return 0;
}
"#;

#[test]
fn what_the_kernel_orders_through_a_ring_is_not_known_and_other_races_are_told() -> Result<()> {
    let scratch = Scratch::new("races/ring")?;
    let flags = ["-O1", "-g", "-pthread"];
    let mut command = Toolchain::contech().text(&scratch, "ring.c", RING, &flags)?;
    let recording = Recording::of(&mut command, &scratch.join("traces"))?;
    let status = recording.run.clone();
    if status.clone().expect("exit 3").is_ok() {
        eprintln!("skipped: the kernel has no io_uring");
        return Ok(());
    }
    status.ok()?;
    let found = backend_json(&["races"], &recording.graphs(true)?[0])?;
    let races = found["races"].as_array().context("a list of races")?;
    assert!(!races.is_empty(), "{found:#}");
    assert!(races.iter().all(|race| race["variable"] == "z"), "{found:#}");
    let reason = found["unknown"][0]["reason"].as_str();
    assert!(reason.context("a reason")?.contains("io_uring"));
    let pair = &found["unknown"][0]["pairs"][0];
    assert_eq!(pair["variable"], "x", "{found:#}");
    scratch.done()
}

/// A reduction of which libomp can be told how it combines.
const REDUCTION: &str = r"
#include <stdio.h>
typedef struct { long a, b; } pair;
#pragma omp declare reduction(add: pair: omp_out.a += omp_in.a, omp_out.b += omp_in.b) initializer(omp_priv = (pair){0, 0})
int main(void) {
    pair p = {0, 0};
    long s = 0;
#pragma omp parallel for reduction(add: p) reduction(+: s)
    for (int i = 0; i < 1000; i++) p.a += i, p.b += 2, s += i;
#pragma omp parallel reduction(+: s)
    for (int i = 0; i < 3; i++) {
#pragma omp for reduction(add: p)
        for (int k = 0; k < 100; k++) p.a += k, s++;
    }
    return p.a + p.b + s == 0;
}
";

#[test]
fn reductions_have_no_races_however_they_combine_and_no_times_that_go_back() -> Result<()> {
    let scratch = Scratch::new("races/reductions")?;
    let flags = ["-O1", "-g", "-fopenmp"];
    let program = Toolchain::contech().text(&scratch, "reduction.c", REDUCTION, &flags)?;
    for (method, threads) in [("critical", "2"), ("critical", "8"), ("atomic", "4"), ("tree", "8")]
    {
        let mut command = Command::new(program.get_program());
        command.env("KMP_FORCE_REDUCTION", method);
        command.env("OMP_NUM_THREADS", threads);
        let dir = scratch.join(format!("{method}{threads}"));
        let (_, graph) = Recording::whole(&mut command, &dir)?;
        let races = recording::races(&graph)?;
        assert!(races.is_empty(), "{method}, {threads} threads: {races:?}");
        let text = recording::told(&graph)?;
        assert!(!text.contains("backwards"), "{method}: {text}");
    }
    scratch.done()
}

#[test]
fn programs_of_hundreds_of_openmp_tasks_that_share_nothing_have_no_races() -> Result<()> {
    let scratch = Scratch::new("races/tasks")?;
    for (program, argument) in
        [("omp_fib", "12"), ("omp_nqueens", "6"), ("omp_sort", "2000"), ("omp_tree", "7")]
    {
        let source = workspace().join(format!("tests/programs/{program}.c"));
        let flags = ["-O1", "-g", "-fopenmp", "-w"];
        Toolchain::contech().compile(&source, &flags, &scratch.join(program))?;
        let found = races(program, argument, argument, &scratch)?;
        assert!(found.is_empty(), "{program}: invented {found:?}");
    }
    scratch.done()
}
