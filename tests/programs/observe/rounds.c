// Two parallel regions of three threads that work in rounds, with a barrier between them.
#include <stdio.h>
#include <time.h>

enum { THREADS = 3, ROUNDS = 4 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(void) {
    for (int phase = 0; phase < 2; ++phase) {
#pragma omp parallel num_threads(THREADS)
        for (int round = 0; round < ROUNDS; ++round) {
            for (double until = now() + 0.01; now() < until;)
                ;
#pragma omp barrier
        }
    }
    printf("done\n");
    return 0;
}
