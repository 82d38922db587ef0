// OpenMP: teams on the host are regions of their own; each team's distribute and loop are marked.
// MODE: verify
// FLAGS: -fopenmp
// THREADS: 1 2 4
#include <omp.h>
#include <stdio.h>

static int a[16];

int main(void) {
    int sum = 0;
#pragma omp teams num_teams(2)
    {
#pragma omp distribute parallel for num_threads(1)
        for (int i = 0; i < 16; i++)
            a[i] = i;
    }
    for (int i = 0; i < 16; i++)
        sum += a[i];
    printf("%d\n", sum);
    return 0;
}
