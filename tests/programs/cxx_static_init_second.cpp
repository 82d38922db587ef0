// PART of cxx_static_init.cpp
#include <cstdio>
#include <vector>

struct Second {
  std::vector<int> values;
  Second() : values(5, 8) {}
  ~Second() { std::puts("second destroyed"); }
};
static Second second;

std::vector<int> &second_module() { return second.values; }
