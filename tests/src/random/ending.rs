//! What the program does with its functions, and every way in which it ends.

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
        let mut text = self.system();
        for part in ["frame", "end", "work"] {
            text += &(self.rule(part) + "\n");
        }
        text += COUNT;
        if self.shape.signals() {
            text += signals::HANDLERS;
        }
        text += ENDS;
        if self.shape.threads() {
            text += THREADS;
        }
        if self.shape.threads() && self.shape.coroutines {
            text += coroutines::WANDERING;
        }
        format!("{text}int main(void) {{\n{}\nreturn 0; }}\n", self.rule("main"))
    }

    /// Calls of all functions that the first unit can call.
    pub(crate) fn calls(&mut self) -> String {
        let mut text = String::new();
        for f in self.functions.clone() {
            if f.unit == 0 || f.shared {
                text += &(self.rule_with([("@function", f.name)], "begun") + "\n");
            }
        }
        text
    }

    /// A text for each array.
    pub(crate) fn of_arrays(&mut self, rule: &str) -> String {
        let mut text = String::new();
        for (array, _) in self.arrays.clone() {
            let whole = if array.is_float() { "(u64)(s64)" } else { "(u64)" };
            let known = [
                ("@array", array.name),
                ("@ty", array.ty.to_owned()),
                ("@len", array.len.to_string()),
                ("@whole", whole.to_owned()),
            ];
            text += &(self.rule_with(known, rule) + "\n");
        }
        text
    }
}
