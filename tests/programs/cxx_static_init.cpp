// Constructors of static objects in two modules run instrumented code before main (and start a thread),
// destructors after it; a function-local static is initialised once by two threads.
// MODE: verify
// COUNT: thread_create 3
// COUNT: thread_join 3
// LEVELS: O0 O1 O2 O3
// WITH: cxx_static_init_second.cpp
#include <cstdio>
#include <thread>
#include <vector>

std::vector<int> &second_module();

struct Early {
  std::vector<int> values;
  Early() {
    std::thread t([this] {
      for (int i = 0; i < 10; i++) values.push_back(i * i);
    });
    t.join();
  }
  ~Early() { std::printf("destroyed with %zu\n", values.size()); }
};
static Early early;

static int &local() {
  static int value = early.values[3];
  return value;
}

int main() {
  int a = 0, b = 0;
  std::thread t([&] { a = local(); }), u([&] { b = local(); });
  t.join();
  u.join();
  std::printf("%d %d %d\n", a, b, second_module().back());
}
