// OpenMP: critical sections log the order they are in, and the chain of their Syncs must be that order.
// MODE: verify
// FLAGS: -fopenmp
// CHECK: log-order
// ENV: OMP_NUM_THREADS=2
// COUNT: critical_enter 20000
// COUNT: critical_exit 20000
#define SECTIONS 20000
#include "order.h"

int main(void) {
    int ready = 0;
#pragma omp parallel num_threads(2)
    {
        // Both begin together, so that they meet.
#pragma omp barrier
        for (int i = 0; i < SECTIONS / 2; i++) {
#pragma omp critical
            section();
            // Let the other one in now and then.
            if (i % 64 == 0) {
#pragma omp atomic
                ready++;
            }
        }
    }
    return report(SECTIONS);
}
