// OpenMP: the same with a lock that is set, and one that is tested until it is free.
// MODE: verify
// FLAGS: -fopenmp
// CHECK: lock-order
// ENV: OMP_NUM_THREADS=2
// COUNT: omp_lock 4000
// COUNT: omp_unlock 4000
#include <omp.h>
#include <stdio.h>

enum { EACH = 1000 };
static char order[4 * EACH + 1];
static int n;

int main(void) {
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    for (int i = 0; i < EACH; i++) {
        omp_set_lock(&lock);
        order[n++] = (char)('1' + omp_get_thread_num());
        omp_unset_lock(&lock);
        while (!omp_test_lock(&lock))
            ;
        order[n++] = (char)('1' + omp_get_thread_num());
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    printf("%s\n", order);
    return 0;
}
