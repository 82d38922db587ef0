// A thread's lambda and what it calls are inlined into a function of the C++ library: their costs are expected at the
// lines of this file, not at one of <thread>.
// MODE: verify
#include <cstdio>
#include <thread>

static int table[4096];

static void fill(int times) {
    for (int k = 0; k < times; k++)
        for (int i = 0; i < 4096; i++)
            table[(i * 67 + k) & 4095] += i;  // fill
}

int main() {
    int times = 3;
    std::thread worker([&] { fill(times); });  // lambda
    worker.join();
    printf("%d\n", table[7]);
}
