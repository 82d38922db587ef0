// OpenMP: threadprivate objects with constructors, copyin; each context has its own.
// MODE: verify
// FLAGS: -fopenmp
// THREADS: 1 2 4
// COUNT: parallel_begin 2
#include <cstdio>
#include <omp.h>

struct Counter {
    int value;
    Counter() : value(100) {}
    Counter(const Counter &) = default;
};

static int plain = 1;
#pragma omp threadprivate(plain)
static Counter counter;
#pragma omp threadprivate(counter)

int main() {
    int sum = 0;
    plain = 5;
#pragma omp parallel copyin(plain) num_threads(2)
    {
        plain += omp_get_thread_num();
        counter.value += plain;
    }
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += counter.value * (1 + omp_get_thread_num());
    std::printf("%d\n", sum);
    return 0;
}
