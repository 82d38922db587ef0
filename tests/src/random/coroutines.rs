//! C++20 coroutines: generators that are left in the middle and tasks that wait for others, both
//! with exceptions that pass through them.

use super::Generator;
use super::scope::{Scope, Suspend};

/// `Gen` yields and throws out of `next`. `Task` hands control over by symmetric transfer and
/// throws where it is awaited.
pub(crate) const TYPES: &str = r"#include <coroutine>
#include <exception>
struct Gen {
  struct promise_type {
    u64 value;
    Gen get_return_object() { return Gen{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(u64 x) { value = x; return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> h;
  explicit Gen(std::coroutine_handle<promise_type> h) : h(h) {}
  Gen(Gen &&o) : h(o.h) { o.h = nullptr; }
  ~Gen() { if (h) h.destroy(); }
  bool next() { if (h.done()) return false; h.resume(); return !h.done(); }
  u64 value() { return h.promise().value; }
};
struct Task {
  struct promise_type {
    u64 value; std::coroutine_handle<> waits = std::noop_coroutine(); std::exception_ptr thrown;
    Task get_return_object() { return Task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Last {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept { return h.promise().waits; }
      void await_resume() noexcept {}
    };
    Last final_suspend() noexcept { return {}; }
    void return_value(u64 x) { value = x; }
    void unhandled_exception() { thrown = std::current_exception(); }
  };
  std::coroutine_handle<promise_type> h;
  explicit Task(std::coroutine_handle<promise_type> h) : h(h) {}
  Task(Task &&o) : h(o.h) { o.h = nullptr; }
  ~Task() { if (h) h.destroy(); }
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> other) { h.promise().waits = other; return h; }
  u64 await_resume() { if (h.promise().thrown) std::rethrow_exception(h.promise().thrown); return h.promise().value; }
  u64 run() { h.resume(); return await_resume(); }
};
";

/// A generator that one thread begins and another continues.
pub(crate) const WANDERING: &str = r"static Gen wandering(u64 n) {
  u64 s = n;
  for (u64 i = 0; i < n; i++) {
    try { s = s * 3 + i; co_yield s; if (s & 4) throw (int)i; s ^= n; } catch (int e) { s += (u64)e * 9; }
  }
}
static void *goes_on(void *p) { Gen &g = *(Gen *)p; for (int i = 0; i < 5; i++) g.next(); return 0; }
static NOINL u64 wander(void) {
  Gen g = wandering(23); u64 s = 0;
  for (int i = 0; i < 3; i++) { g.next(); s += g.value(); pthread_t t; pthread_create(&t, 0, goes_on, &g); pthread_join(t, 0); s ^= g.value(); }
  return s;
}
";

impl Generator<'_> {
    /// Declarations and bodies of the unit's coroutines, of which it has one of each kind.
    pub(crate) fn coroutines_of_unit(&mut self) -> String {
        if !self.shape.coroutines {
            return String::new();
        }
        let kinds = [Suspend::Yield, Suspend::Await];
        let declared = ["Gen gen", "Task task"]
            .map(|begin| format!("static {begin}{}(u64, struct S *, int);\n", self.unit));
        declared.concat() + &kinds.map(|kind| self.coroutine(kind)).concat()
    }

    /// A coroutine of the same parameters as a function.
    fn coroutine(&mut self, kind: Suspend) -> String {
        self.scope = Scope {
            arrays: self.arrays_of(self.unit),
            ints: vec!["x".to_owned()],
            pointers: vec!["s".to_owned()],
            weight: 4,
            suspend: Some(kind),
            ..Scope::default()
        };
        self.most_statements = self.statements + u32::try_from(self.rng.range(6, 18)).unwrap_or(8);
        self.rule("coroutine") + "\n"
    }
}
