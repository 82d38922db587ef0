// OpenMP: each critical section logs who is in it; the chain of its Syncs must be that order. Contexts of the
// first region are numbered from 1 in the order of their threads.
// MODE: verify
// FLAGS: -fopenmp
// CHECK: lock-order
// ENV: OMP_NUM_THREADS=2
// COUNT: critical_enter 20000
// COUNT: critical_exit 20000
#include <omp.h>
#include <stdio.h>

enum { EACH = 10000 };
static char order[2 * EACH + 1];
static int n;

int main(void) {
    int ready = 0;
#pragma omp parallel num_threads(2)
    {
        // Both begin together, so that they meet.
#pragma omp barrier
        for (int i = 0; i < EACH; i++) {
#pragma omp critical
            order[n++] = (char)('1' + omp_get_thread_num());
            // Let the other one in now and then.
            if (i % 64 == 0) {
#pragma omp atomic
                ready++;
            }
        }
    }
    printf("%s\n", order);
    return 0;
}
