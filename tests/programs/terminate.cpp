// An exception nobody catches: std::terminate, SIGABRT; what was recorded is kept.
// MODE: verify
// EXPECT: signal 6
#include <cstdio>
#include <stdexcept>

int main(int argc, char **) {
  std::printf("before\n");
  std::fflush(stdout);
  if (argc > 0) throw std::runtime_error("nobody catches this");
  std::printf("after\n");
}
