// Exceptions through many frames with cleanups, rethrow, nested, from a constructor, in a thread, caught by
// base, function try blocks, noexcept boundary not crossed.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

static int live;
struct Guard {
  int n;
  explicit Guard(int n) : n(n) { live++; }
  ~Guard() { live--; }
};
struct Base {
  virtual ~Base() = default;
  virtual int code() const { return 1; }
};
struct Derived : Base {
  int code() const override { return 2; }
};
struct Member {
  Guard g{1};
  explicit Member(bool fail) try : s(fail ? throw Derived() : "ok") {
  } catch (...) {
    throw;
  }
  std::string s;
};

__attribute__((noinline)) static int deep(int n) {
  Guard g(n);
  if (n == 0) throw std::runtime_error("bottom");
  return deep(n - 1) + g.n;
}

__attribute__((noinline)) static int middle(int n) {
  try {
    return deep(n);
  } catch (std::runtime_error &e) {
    Guard g(0);
    std::throw_with_nested(std::logic_error("wrapped"));
  }
}

static void all() {
  for (int i = 0; i < 5; i++) {
    try {
      middle(10 * i);
    } catch (std::logic_error &e) {
      try {
        std::rethrow_if_nested(e);
      } catch (std::exception &in) {
        std::printf("%s %s %d\n", e.what(), in.what(), live);
      }
    }
  }
  try {
    Member m(true);
  } catch (Base &b) {
    std::printf("code %d live %d\n", b.code(), live);
  }
  Member fine(false);
  std::exception_ptr p;
  try {
    throw 7;
  } catch (...) {
    p = std::current_exception();
  }
  try {
    std::rethrow_exception(p);
  } catch (int i) {
    std::printf("int %d\n", i);
  }
}

int main() {
  all();
  std::thread t(all);
  t.join();
  std::printf("live %d\n", live);
}
