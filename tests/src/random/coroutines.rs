//! C++20 coroutines: generators that are left in the middle and tasks that wait for others, both
//! with exceptions that pass through them.

use super::scope::{Scope, Suspend};
use super::{Coroutine, Generator};

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
    pub(crate) fn declare_coroutines(&mut self) {
        if !self.shape.coroutines {
            return;
        }
        for kind in [Suspend::Yield, Suspend::Await] {
            for unit in 0..self.shape.units {
                let name = self.fresh(kind.prefix());
                self.coroutines.push(Coroutine { name, unit, kind });
            }
        }
    }

    /// Declarations and bodies of the unit's coroutines.
    pub(crate) fn coroutines_of_unit(&mut self) -> String {
        let unit = self.unit;
        let own: Vec<Coroutine> =
            self.coroutines.iter().filter(|c| c.unit == unit).cloned().collect();
        let mut text = String::new();
        for c in &own {
            text += &format!("static {} {}(u64, struct S *, int);\n", c.kind.ty(), c.name);
        }
        for c in &own {
            text += &self.coroutine(c);
        }
        text
    }

    fn coroutine(&mut self, c: &Coroutine) -> String {
        self.scope = Scope {
            arrays: self.arrays_of(c.unit),
            ints: vec!["x".to_owned()],
            pointers: vec!["s".to_owned()],
            weight: 4,
            may_leave: true,
            suspend: Some(c.kind),
            ..Scope::default()
        };
        self.most_statements = self.statements + u32::try_from(self.rng.range(6, 18)).unwrap_or(8);
        let (first, n) = (self.suspended(), self.rng.range(1, 3));
        let (body, guard) = (self.some(n, 0), self.expr(2));
        let last = self.suspended();
        let (leave, end) = match c.kind {
            Suspend::Yield => ("co_return;", ""),
            Suspend::Await => ("co_return x;", "co_return acc ^ x;"),
        };
        format!(
            "static {} {}(u64 x, struct S *s, int d) {{\nif (d > 5 || --fuel < 0) {leave}\n{first}\n{{ Guard kept({guard});\n{body}\n{last}\n}}\n{end}\n}}\n",
            c.kind.ty(),
            c.name
        )
    }

    /// A suspension, in a coroutine.
    pub(crate) fn suspended(&mut self) -> String {
        match self.scope.suspend {
            Some(Suspend::Yield) => format!("co_yield {};", self.expr(1)),
            Some(Suspend::Await) => match self.started(Suspend::Await) {
                Some(task) => format!("acc += co_await {task};"),
                None => self.store(),
            },
            None => self.store(),
        }
    }

    /// A coroutine that runs to its end, or a part of the way.
    pub(crate) fn driven(&mut self) -> String {
        if self.rng.chance(50)
            && let Some(gen_) = self.started(Suspend::Yield)
        {
            let (g, k, most) = (self.fresh("gives"), self.fresh("k"), self.rng.range(1, 6));
            return format!(
                "{{ int {k} = 0; for (Gen {g} = {gen_}; {g}.next();) {{ acc = acc * 3 + {g}.value(); if (++{k} > {most}) break; }} }}"
            );
        }
        match self.started(Suspend::Await) {
            Some(task) => format!("acc ^= {task}.run();"),
            None => self.store(),
        }
    }

    fn started(&mut self, kind: Suspend) -> Option<String> {
        let unit = self.unit;
        let fits = self.coroutines.iter().find(|c| c.unit == unit && c.kind == kind);
        let name = fits?.name.clone();
        let (x, i) = (self.expr(2), self.index(64, 1));
        Some(format!("{name}({x}, &pool[{i}], d + 1)"))
    }
}
