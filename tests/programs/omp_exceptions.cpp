// OpenMP: exceptions thrown and caught inside of regions and tasks.
// MODE: verify
// FLAGS: -fopenmp
// THREADS: 1 2 4
// COUNT: task_create 10
#include <cstdio>
#include <omp.h>
#include <stdexcept>

static int half(int n) {
    if (n % 2)
        throw std::runtime_error("odd");
    return n / 2;
}

int main() {
    int good = 0, bad = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 10; i++) {
#pragma omp task
        {
            try {
                int h = half(i);
#pragma omp atomic
                good += h;
            } catch (const std::exception &) {
#pragma omp atomic
                bad++;
            }
        }
    }
    std::printf("%d %d\n", good, bad);
    return 0;
}
