// C++20 coroutines: a generator whose frame lives on the heap.
// MODE: verify
// LEVELS: O0 O1 O2
// FLAGS: -std=c++20
#include <coroutine>
#include <cstdio>

struct Generator {
  struct promise_type {
    int value;
    Generator get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int v) {
      value = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> h;
  ~Generator() { h.destroy(); }
  bool next() {
    h.resume();
    return !h.done();
  }
};

static Generator fibonacci(int n) {
  int a = 0, b = 1;
  for (int i = 0; i < n; i++) {
    co_yield a;
    int c = a + b;
    a = b;
    b = c;
  }
}

int main() {
  Generator g = fibonacci(12);
  while (g.next()) std::printf("%d ", g.h.promise().value);
  std::puts("");
}
