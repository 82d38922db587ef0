// Control leaves functions in every way C++ has: destructors that throw and that run while an exception passes,
// rethrown, nested and stored exceptions, constructors that fail half-way, function try blocks, `return`, `continue`
// and `goto` out of try blocks and handlers, longjmp, noexcept, threads that end by pthread_exit or are cancelled.
// MODE: verify
// LEVELS: O0 O1 O2 O3
#include <pthread.h>

#include <csetjmp>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

static thread_local unsigned long acc = 1;
static thread_local unsigned cells[64];
static thread_local jmp_buf place;

struct Guard {
  unsigned x;
  explicit Guard(unsigned v) : x(v) {
    cells[v & 63] += v;
    acc = acc * 3 + v;
  }
  ~Guard() {
    acc ^= x;
    cells[(x + acc) & 63]++;
  }
};

struct Throws {
  int n;
  ~Throws() noexcept(false) {
    if (n > 2 && !std::uncaught_exceptions()) throw n;
    acc += n;
  }
};

NOINLINE static int deep(int n) {
  Guard g(n);
  if (!n) throw std::runtime_error("end " + std::to_string(acc & 7));
  int r = deep(n - 1);
  return r + (int)g.x;
}

NOINLINE static int destructor(int n) {
  try {
    Throws d{n};
    Guard g(n);
    acc++;
  } catch (int e) {
    return e + (int)(acc & 3);
  }
  return n;
}

NOINLINE static int again(int n) {
  try {
    try {
      deep(n);
    } catch (std::exception &e) {
      Guard g(3);
      acc += e.what()[4];
      throw;
    }
  } catch (std::runtime_error &) {
    std::exception_ptr p = std::current_exception();
    try {
      std::rethrow_exception(p);
    } catch (...) {
      acc += 7;
      return 1;
    }
  }
  return 0;
}

NOINLINE static int nested(int n) {
  try {
    try {
      deep(n);
    } catch (...) {
      std::throw_with_nested(std::logic_error("x"));
    }
  } catch (const std::exception &e) {
    try {
      std::rethrow_if_nested(e);
    } catch (const std::exception &f) {
      Guard g((unsigned)f.what()[0]);
      return (int)(acc & 15);
    }
  }
  return 5;
}

NOINLINE static int early(int n) {
  for (unsigned i = 0; i < 2u * n; i++) {
    try {
      Guard g(i);
      if (i == 3) continue;
      if (i == 7) return (int)(i + acc % 5);
      if (i & 1) throw i;
    } catch (unsigned e) {
      Guard h(e);
      if (e == 5) goto out;
      cells[e]++;
    }
  }
out:
  return n;
}

struct Members {
  std::vector<std::unique_ptr<Guard>> v;
  explicit Members(int n) {
    for (int i = 0; i < n; i++) v.push_back(std::make_unique<Guard>(i));
    if (n & 1) deep(2);
  }
};

struct Tries {
  Members m;
  Guard g;
  explicit Tries(int n) try : m(n), g(1) {
    if (n == 4) throw 4;
  } catch (...) {
    acc += 11;
  }
};

NOINLINE static int members(int n) {
  try {
    Members m(n);
    return (int)m.v.size();
  } catch (std::exception &) {
    return -1;
  }
}

NOINLINE static int tries(int n) {
  try {
    Tries t(n);
    return 1;
  } catch (...) {
    return 2;
  }
}

NOINLINE static void jump(int n) {
  volatile int a[8];
  for (int i = 0; i < 8; i++) a[i] = i * n;
  acc += a[3];
  if (n == 0) longjmp(place, 5);
  jump(n - 1);
  acc++;
}

NOINLINE static int jumped(int n) {
  int r = setjmp(place);
  if (!r) {
    try {
      jump(n);
    } catch (...) {
      acc += 3;
    }
  }
  return r + (int)(acc & 1);
}

NOINLINE static int never(int n) noexcept {
  try {
    return deep(n);
  } catch (...) {
    return (int)(acc & 63);
  }
}

static int (*const ways[])(int) = {deep, destructor, again, nested, early, members, tries, jumped, never};

// Ends while two objects are alive, by itself or because it was cancelled.
static void *leaves(void *by_itself) {
  Guard g(9);
  try {
    Guard h(4);
    if (by_itself) pthread_exit(by_itself);
    pthread_cancel(pthread_self());
    pthread_testcancel();
  } catch (...) {
    acc += 2;
    cells[1]++;
    throw;
  }
  return nullptr;
}

static void *stores(void *n) {
  try {
    deep((int)(long)n);
  } catch (...) {
    return new std::exception_ptr(std::current_exception());
  }
  return nullptr;
}

static void *joined(void *(*f)(void *), long argument) {
  pthread_t t;
  void *value;
  pthread_create(&t, nullptr, f, (void *)argument);
  pthread_join(t, &value);
  return value;
}

int main() {
  unsigned long sum = 0;
  for (int n = 0; n < 12; n++) {
    for (auto way : ways) {
      try {
        Guard g(n);
        sum = sum * 5 + way(n % 6);
      } catch (std::exception &e) {
        sum += e.what()[4];
      }
    }
  }
  for (long i = 0; i < 4; i++) {
    sum += joined(leaves, i & 1) == PTHREAD_CANCELED;
    auto *stored = static_cast<std::exception_ptr *>(joined(stores, i));
    try {
      std::rethrow_exception(*stored);
    } catch (std::exception &e) {
      Guard g(2);
      sum += e.what()[0];
    }
    delete stored;
  }
  std::printf("%lu %lu %u\n", sum, acc, cells[5]);
}
