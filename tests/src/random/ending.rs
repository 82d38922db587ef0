//! What the program does with its functions, and every way in which it ends.

use super::shape::Threads;
use super::{Generator, coroutines, signals};

/// Counts the calls of all generated functions. It is printed, and the graph must say the same.
const COUNT: &str = "NOINL void said(void) { said_here++; }\n";

/// The threads add what they have computed, say so, and leave; those that stay are never joined.
const THREADS: &str = r"static u64 other; static u32 said_all; static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t told; static pthread_key_t key; static u32 stays[64]; static u64 seeds[8] = {0, 1, 2, 3, 4, 5, 6, 7};
static void add(u64 r) { pthread_mutex_lock(&lock); other += r; said_all += said_here; pthread_mutex_unlock(&lock); }
static void *joined(void *seed) { add(work(*(u64 *)seed)); return 0; }
static void at_end(void *p) { for (u32 i = 0; i < 40; i++) ((u32 *)p)[i & 15] += i; free(p); }
static void *leaving(void *seed) {
  pthread_setspecific(key, calloc(16, 4));
  add(work(*(u64 *)seed));
  sem_post(&told);
  for (u32 i = 0; i < 60; i++) grid[i & 15][2] += i;
  if (*(u64 *)seed == 1) pthread_exit(0);
  if (*(u64 *)seed == 2) { pthread_cancel(pthread_self()); pthread_testcancel(); }
  return 0;
}
static void *staying(void *seed) {
  for (;;) {
    pthread_mutex_lock(&lock); stays[0]++; pthread_mutex_unlock(&lock);
    for (u32 i = 0; i < 200; i++) grid[i & 15][*(u64 *)seed] += i;
    __atomic_fetch_add(&stays[1], 1, 5); usleep(100);
  }
}
static void start(void *(*f)(void *), u64 *seed) { pthread_t t; if (!pthread_create(&t, 0, f, seed)) pthread_detach(t); else if (f == leaving) sem_post(&told); }
";

/// Ways to end a process, besides `return`.
const ENDS: &str = r"static void last_of_all(void) { for (u32 i = 0; i < 90; i++) grid[i & 15][i & 3] ^= i; }
static void ends(int n) { exit(0); }
static void *ender(void *n) { fflush(0); exit(0); }
";

impl Generator<'_> {
    pub(crate) fn main_text(&mut self) -> String {
        let (every, first) = (self.rng.range(3, 9), self.rng.below(40));
        let mut text = self.system();
        text += &format!(
            "static NOINL void begin(void) {{ for (int i = 0; i < 63; i++) {{ pool[i].next = i % {every} ? &pool[i + 1] : 0; pool[i].a = i; }} head = &pool[{first}];"
        );
        for (a, _) in &self.arrays {
            let by = self.rng.range(1, 50);
            text += &format!(
                " for (int i = 0; i < {}; i++) {n}[i] = ({})(i * {by} % 251);",
                a.len,
                a.ty,
                n = a.name
            );
        }
        if self.shape.cxx {
            text += " for (int i = 0; i < 4; i++) { things[i] = i & 1 ? new Thing() : new Other(); things[i]->k = i; }";
        }
        text += " }\nstatic NOINL u64 end(void) { u64 h = acc;";
        for (a, _) in &self.arrays {
            let cast = if a.is_float() { "(u64)(s64)" } else { "(u64)" };
            text +=
                &format!(" for (int i = 0; i < {}; i++) h = h * 31 + {cast}{}[i];", a.len, a.name);
        }
        text += " for (int i = 0; i < 64; i++) h = h * 31 + (u64)pool[i].a + (u64)pool[i].b + pool[i].c[2] + (u64)pool[i].d;";
        text += " for (int i = 0; i < 256; i++) h = h * 31 + grid[i / 16][i % 16]; for (int i = 0; i < 16; i++) h = h * 31 + bits[i].q + bits[i].t;";
        text += if self.shape.cxx {
            " for (int i = 0; i < 4; i++) { h += things[i]->turn(1); delete things[i]; }"
        } else {
            ""
        };
        text += " return h; }\nstatic NOINL u64 work(u64 seed) {\nbegin();\n";
        let (rounds, fuel) = (self.rng.range(1, 3), self.rng.range(10, 50));
        text += &format!("for (int r = 0; r < {rounds}; r++) {{ fuel = {fuel};\n");
        for f in self.functions.clone() {
            if f.unit != 0 && !f.shared {
                continue;
            }
            let (x, i) = (self.rng.below(1000), self.rng.below(60));
            let call = format!("acc += {}({x}u + r + seed, &pool[{i}], 0);", f.name);
            text += &if self.shape.cxx {
                format!(
                    "try {{ {call} }} catch (int e) {{ acc += e; }} catch (Oops &e) {{ acc ^= e.a; }}\n"
                )
            } else {
                format!("jumps = 1; if (!setjmp(places[0])) {{ {call} }}\njumps = 0;\n")
            };
        }
        text += &self.loads();
        text += &self.asks();
        text += "}\nreturn end(); }\n";
        text + &self.main_function()
    }

    fn main_function(&mut self) -> String {
        let (alone, cxx) = (!self.shape.threads(), self.shape.cxx);
        let mut text = COUNT.to_owned();
        if self.shape.signals() {
            text += signals::HANDLERS;
        }
        text += ENDS;
        if !alone {
            text += THREADS;
        }
        if !alone && self.shape.coroutines {
            text += coroutines::WANDERING;
        }
        text += "int main(void) {\n";
        text += &self.stop();
        text += &self.install();
        if self.rng.chance(40) {
            text += "atexit(last_of_all);\n";
        }
        if self.shape.coroutines && !alone {
            text += "shared_sum += wander();\n";
        }
        let mut stay = 0;
        match self.shape.threads {
            Threads::None => {
                text += "printf(\"%lu\\n\", work(0)); printf(\"said %u\\n\", said_here);\n"
            }
            Threads::Joined => {
                text += "pthread_t t; pthread_create(&t, 0, joined, &seeds[1]); u64 r = work(0); add(0); pthread_join(t, 0);\n";
            }
            Threads::Leaving => {
                let leave = self.rng.range(1, 4);
                text += &format!(
                    "sem_init(&told, 0, 0); pthread_key_create(&key, at_end); for (int i = 1; i <= {leave}; i++) start(leaving, &seeds[i]);\nu64 r = work(0); add(0); for (int i = 0; i < {leave}; i++) while (sem_wait(&told)) ;\n"
                );
                stay = self.rng.below(3);
                text += &format!("for (int i = 0; i < {stay}; i++) start(staying, &seeds[i]);\n");
            }
        }
        if !alone {
            text += "pthread_mutex_lock(&lock); printf(\"%lu %lu %lu\\nsaid %u\\n\", r, other, shared_sum, said_all); pthread_mutex_unlock(&lock);\n";
        }
        // Threads that stay would keep a process alive whose first thread ends only itself.
        let ways = [
            "return 0;",
            "return 0;",
            "exit(0);",
            "fflush(0); _exit(0);",
            "fflush(0); quick_exit(0);",
            "signal(15, ends); fflush(0); raise(15);",
            "{ pthread_t e; pthread_create(&e, 0, ender, 0); for (;;) pause(); }",
            "{ pthread_t e; pthread_create(&e, 0, ender, 0); pthread_join(e, 0); }",
            "fflush(0); pthread_exit(0);",
        ];
        let ways = if stay == 0 && !cxx { &ways[..] } else { &ways[..8] };
        text += self.rng.word(ways);
        text + "\nreturn 0; }\n"
    }
}
