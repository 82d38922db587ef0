// std::thread: create, move, join, arguments by value and by reference, and std::jthread.
// MODE: golden
// LEVELS: O0 O1 O2 O3
// FLAGS: -std=c++20
#include <cstdio>
#include <thread>

static void add(int a, int &r) { r += a; }

int main() {
  int r = 1;
  std::thread t(add, 2, std::ref(r));
  std::thread u = std::move(t);
  u.join();
  { std::jthread j([&] { r *= 10; }); }
  std::printf("%d\n", r);
}
