// OpenMP: a doacross loop. Every iteration but the first waits for the one before, which is the other
// context's, as schedule(static, 1) has it.
// MODE: verify
// FLAGS: -fopenmp -Wno-deprecated
// THREADS: 1 2 4
// COUNT: doacross_post 8
// COUNT: doacross_wait 7
// EDGE: doacross_post -> doacross_wait 7
#include <omp.h>
#include <stdio.h>

static int a[8];

int main(void) {
#pragma omp parallel for ordered(1) schedule(static, 1) num_threads(2)
    for (int i = 0; i < 8; i++) {
#pragma omp ordered depend(sink : i - 1)
        a[i] = i ? a[i - 1] + i : 0;
#pragma omp ordered depend(source)
    }
    printf("%d\n", a[7]);
    return 0;
}
