//! Processes that are built in ways of their own: a host that closes a plug-in, and a library that
//! stands in front of the C library and counts on the threads that it has seen.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};
use contech_tests::process::run;
use contech_tests::recording::{Recording, middle};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

/// Uses a plug-in in a thread, closes it, and then lets the thread end.
const HOST: &str = r#"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static pthread_barrier_t used, closed;
static long (*sum)(long);
static void *work(void *arg) {
    long result = sum(1000);
    pthread_barrier_wait(&used);
    pthread_barrier_wait(&closed);
    return (void *)result;
}
int main(void) {
    pthread_barrier_init(&used, 0, 2);
    pthread_barrier_init(&closed, 0, 2);
    for (int i = 0; i < 3; i++) {
        pthread_t t;
        void *plugin = dlopen("./plugin.so", RTLD_NOW), *result;
        if (!plugin) return puts(dlerror());
        sum = (long (*)(long))dlsym(plugin, "sum");
        pthread_create(&t, 0, work, 0);
        pthread_barrier_wait(&used);
        dlclose(plugin);
        pthread_barrier_wait(&closed);
        pthread_join(t, &result);
        printf("%ld\n", (long)result);
    }
    return 0;
}
"#;
const PLUGIN: &str = r"
static volatile long cells[64];
long sum(long n) {
    long all = 0;
    for (long i = 0; i < n; i++) { if (i % 3) cells[i * i & 63] += 1; all += i; }
    return all;
}
";

#[test]
fn a_host_that_is_not_instrumented_closes_a_plug_in_that_is() -> Result<()> {
    let scratch = Scratch::new("guests/plugin")?;
    Toolchain::native().text(&scratch, "host.c", HOST, &["-O1", "-pthread"])?;
    let plugin = scratch.write("plugin.c", PLUGIN)?;
    for mode in ["full", "workspan"] {
        let flags = ["-O1", "-fPIC", "-shared", &format!("--contech-mode={mode}")];
        Toolchain::contech().compile(&plugin, &flags, &scratch.join("plugin.so"))?;
        let command = || {
            let mut command = Command::new("./host");
            command.current_dir(scratch.dir());
            command
        };
        let expected = "499500\n499500\n499500\n";
        let off = run(command().env("CONTECH_OFF", "1"))?.ok()?;
        assert_eq!(off.out(), expected);
        let recording = Recording::of(&mut command(), &scratch.join(mode))?;
        assert_eq!(recording.run.clone().ok()?.out(), expected);
        if mode == "full" {
            assert_eq!(recording.graphs(true)?.len(), 1);
        }
    }
    scratch.done()
}

/// Stands in front of functions of the C library, and ends the process when a thread that it has
/// not seen calls one.
const INTERPOSER: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static __thread int seen;
static void check(const char *name) {
    char line[64] = "unseen thread in ";
    if (seen || syscall(SYS_gettid) == getpid()) return;
    strcat(line, name);
    strcat(line, "\n");
    syscall(SYS_write, 2, line, strlen(line));
    abort();
}
struct begun { void *(*body)(void *); void *arg; };
static void *begin(void *p) {
    struct begun b = *(struct begun *)p;
    seen = 1;
    free(p);
    return b.body(b.arg);
}
int seen_create(pthread_t *t, void *(*body)(void *), void *arg) {
    struct begun *b = malloc(sizeof *b);
    b->body = body;
    b->arg = arg;
    return pthread_create(t, 0, begin, b);
}
#define FRONT(name) \
    long front_##name(long a, long b, long c, long d, long e, long f) __asm__(#name); \
    long front_##name(long a, long b, long c, long d, long e, long f) { \
        static long (*real)(long, long, long, long, long, long); \
        check(#name); \
        if (!real) real = (long (*)(long, long, long, long, long, long))dlsym(RTLD_NEXT, #name); \
        return real(a, b, c, d, e, f); \
    }
FRONTS
"#;
/// Without `pthread_self`: the recorder calls it in a new thread of the program, before the library
/// has seen that thread.
const FRONTS: [&str; 25] = [
    "fstat",
    "fstat64",
    "fstatvfs",
    "fstatvfs64",
    "statfs",
    "open64",
    "write",
    "writev",
    "pwrite64",
    "pread64",
    "fcntl64",
    "poll",
    "ppoll",
    "clock_gettime",
    "gettimeofday",
    "time",
    "nanosleep",
    "clock_nanosleep",
    "usleep",
    "sched_yield",
    "getrusage",
    "sigpending",
    "madvise",
    "getenv",
    "sysconf",
];
const WATCHED: &str = r#"
#include <pthread.h>
#include <stdio.h>
int seen_create(pthread_t *t, void *(*body)(void *), void *arg);
static volatile long cells[64];
static void *work(void *arg) {
    for (long i = 0; i < 300000; i++) if (i * i % 7 & 1) cells[i * 7919 & 63] += i;
    return arg;
}
int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) seen_create(&t[i], work, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    puts("done");
    return 0;
}
"#;

#[test]
fn the_writer_calls_nothing_that_a_library_may_stand_in_front_of() -> Result<()> {
    let scratch = Scratch::new("guests/interposer")?;
    let fronts: String = FRONTS.map(|name| format!("FRONT({name})\n")).concat();
    let front = scratch.write("front.c", INTERPOSER.replace("FRONTS", &fronts))?;
    let library = scratch.join("libfront.so");
    let flags = ["-O1", "-fPIC", "-shared", "-fno-builtin", "-w"];
    Toolchain::native().compile(&front, &flags, &library)?;
    let flags = ["-O1", "-pthread", &library.display().to_string()];
    let mut command = Toolchain::contech().text(&scratch, "main.c", WATCHED, &flags)?;
    command.env("CONTECH_BUFFER", "32K").env("LD_PRELOAD", &library);
    let (run, _) = Recording::whole(&mut command, &scratch.join("traces"))?;
    assert_eq!(run.out(), "done\n", "{run}");
    scratch.done()
}

/// Libraries of Debian that stand in front of the C library.
const LIBRARIES: [&str; 4] = [
    "faketime/libfaketimeMT.so.1",
    "libjemalloc.so.2",
    "libmimalloc.so.2",
    "libtcmalloc_minimal.so.4",
];
/// Threads that allocate and ask for times, beside a fork.
const ALLOCATES: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile long cells[64];
static void *work(void *arg) {
    struct stat about;
    struct timespec now;
    for (long i = 0; i < 1000; i++) {
        long *p = malloc(16 + i % 2000);
        for (int k = 0; k < 100; k++) if (i * k % 7 & 1) cells[i * 7919 + k & 63] += k;
        p[0] = i;
        free(realloc(p, 4000));
        if (i % 100 == 0) fstat(1, &about), clock_gettime(CLOCK_REALTIME, &now);
    }
    return arg;
}
int main(void) {
    pthread_t t[3];
    int status;
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    pid_t child = fork();
    if (!child) work(0), _exit(3);
    waitpid(child, &status, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    printf("%d\n", WEXITSTATUS(status));
    return 0;
}
"#;

#[test]
fn libraries_in_front_of_the_c_library_change_nothing() -> Result<()> {
    let scratch = Scratch::new("guests/libraries")?;
    let flags = ["-O1", "-pthread"];
    let program = Toolchain::contech().text(&scratch, "main.c", ALLOCATES, &flags)?;
    for (n, library) in LIBRARIES.iter().enumerate() {
        let mut command = Command::new(program.get_program());
        command.env("CONTECH_BUFFER", "32K").env("FAKETIME", "-5d");
        let library = Path::new("/usr/lib/x86_64-linux-gnu").join(library);
        command.env("LD_PRELOAD", library);
        let recording = Recording::of(&mut command, &scratch.join(format!("traces{n}")))?;
        assert_eq!(recording.run.clone().ok()?.out(), "3\n");
        assert_eq!(recording.graphs(true)?.len(), 2);
    }
    scratch.done()
}

/// Threads that operate on one variable, in a process that is stopped for longer than a thread
/// waits for another one.
const STOPPED: &str = r"
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern pid_t _Fork(void);
static atomic_long counter;
static atomic_int done;

static void *work(void *arg) {
    while (!done) counter++;
    return arg;
}

int main(void) {
    pthread_t t[8];
    for (int i = 0; i < 8; i++) pthread_create(&t[i], NULL, work, NULL);
    pid_t me = getpid(), p = _Fork();
    if (p == 0) {
        for (int i = 0; i < 2; i++) {
            usleep(20000);
            kill(me, SIGSTOP);
            usleep(1200000);
            kill(me, SIGCONT);
        }
        _exit(0);
    }
    waitpid(p, NULL, 0);
    done = 1;
    for (int i = 0; i < 8; i++) pthread_join(t[i], NULL);
    return counter == 0;
}
";

#[test]
fn who_was_stopped_keeps_its_place_in_the_order_of_atomic_operations() -> Result<()> {
    let scratch = Scratch::new("guests/stopped")?;
    let flags = ["-O2", "-pthread"];
    let mut command = Toolchain::contech().text(&scratch, "main.c", STOPPED, &flags)?;
    let recording = Recording::of(&mut command, &scratch.join("traces"))?;
    recording.run.clone().ok()?;
    let [trace] = recording.traces.as_slice() else {
        bail!("{:?}", recording.traces);
    };
    let said = middle(trace, &scratch.join("graph.tg"))?.ok()?.out();
    assert!(!said.contains("wrong order") && !said.contains("same place"), "{said}");
    scratch.done()
}

/// Takes free locks, by `pthread_mutex_lock` or by a try.
const LOCKS: &str = r"
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t locks[64];
static volatile long cells[64];
static long rounds, tries;
static void *work(void *arg) {
    for (long i = 0; i < rounds; i++) {
        pthread_mutex_t *lock = &locks[i * 7 & 63];
        if (tries ? pthread_mutex_trylock(lock) : pthread_mutex_lock(lock)) abort();
        cells[i & 63]++;
        pthread_mutex_unlock(lock);
    }
    return arg;
}
int main(int argc, char **argv) {
    pthread_t t;
    for (int i = 0; i < 64; i++) pthread_mutex_init(&locks[i], 0);
    tries = atol(argv[1]), rounds = atol(argv[2]);
    pthread_create(&t, 0, work, 0);
    return pthread_join(t, 0);
}
";

/// Instructions that a program executes, in all of its threads, as callgrind counts them.
fn instructions(program: &Path, tries: u32, rounds: u64) -> Result<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(program).args([tries.to_string(), rounds.to_string()]);
    let said = run(command.env("CONTECH_TRACE", "null"))?.ok()?.err();
    let line = said.lines().find_map(|line| line.split_once("Collected : "));
    match line {
        Some((_, count)) => Ok(count.trim().parse()?),
        None => bail!("{said}"),
    }
}

#[test]
fn a_free_lock_costs_some_hundred_instructions_whether_it_is_tried_or_taken() -> Result<()> {
    /// Locks taken, and the most instructions that recording one and its release adds. Measured:
    /// 427 and 431.
    const ROUNDS: u64 = 100_000;
    const MOST: u64 = 450;
    let scratch = Scratch::new("guests/locks")?;
    for (compiler, name) in [(Toolchain::native(), "native"), (Toolchain::contech(), "recorded")] {
        compiler.text(&scratch, &format!("{name}.c"), LOCKS, &["-O2", "-pthread"])?;
    }
    for tries in [0, 1] {
        let of = |name: &str| -> Result<u64> {
            let program = scratch.join(name);
            let begin = instructions(&program, tries, 0)?;
            Ok((instructions(&program, tries, ROUNDS)? - begin) / ROUNDS)
        };
        let (native, recorded) = (of("native")?, of("recorded")?);
        assert!(recorded <= native + MOST, "tries {tries}: {native} and {recorded} instructions");
    }
    scratch.done()
}
