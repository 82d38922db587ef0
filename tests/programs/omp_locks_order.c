// OpenMP: the same with a lock that is set, and one that is tested until it is free.
// MODE: verify
// FLAGS: -fopenmp
// CHECK: log-order
// ENV: OMP_NUM_THREADS=2
// COUNT: omp_lock 4000
// COUNT: omp_unlock 4000
#define SECTIONS 4000
#include "order.h"
#include <omp.h>

int main(void) {
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    for (int i = 0; i < SECTIONS / 4; i++) {
        omp_set_lock(&lock);
        section();
        omp_unset_lock(&lock);
        while (!omp_test_lock(&lock))
            ;
        section();
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    return report(SECTIONS);
}
