// Where the C library's heap puts what the program allocates, from the beginning of a page on: expected to be the
// same whether the program is recorded, observed, or neither. Lines that threads share depend on it.
// MODE: verify
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static void say(const char *when) {
    std::vector<uint64_t> counters(4);
    void *small = malloc(24);
    printf("%s %03zx %03zx\n", when, size_t(counters.data()) % 4096, size_t(small) % 4096);
}

int main() {
    say("first");
    for (int i = 0; i < 3; i++) std::thread([] {}).join();
    say("last");
}
