// OpenMP: reductions by atomics, in a critical section, in a tree (teams of more than four, inside of the
// barrier, where a reduction Sync comes after what the others did), with an operation of the program's own.
// MODE: verify
// FLAGS: -fopenmp
// THREADS: 1 2 4
// COUNT: parallel_begin 4
#include <cstdio>
#include <omp.h>
#include <string>
#include <vector>

struct Most {
    int value = -1;
    void take(int v) { value = v > value ? v : value; }
};
#pragma omp declare reduction(most : Most : omp_out.take(omp_in.value))

int main() {
    int sum = 0, product = 1;
    double all[4] = {0, 0, 0, 0};
    Most most;
#pragma omp parallel for reduction(+ : sum) reduction(* : product) num_threads(2)
    for (int i = 1; i < 9; i++) {
        sum += i;
        product *= i;
    }
#pragma omp parallel for reduction(+ : all) num_threads(6)
    for (int i = 0; i < 60; i++)
        all[i % 4] += i;
#pragma omp parallel for reduction(most : most) num_threads(6)
    for (int i = 0; i < 60; i++)
        most.take((i * 37) % 61);
    std::vector<int> parts;
#pragma omp parallel num_threads(5)
    {
        int mine = omp_get_thread_num();
#pragma omp critical(parts)
        parts.push_back(mine);
    }
    int total = 0;
    for (int p : parts)
        total += p;
    std::printf("%d %d %g %g %g %g %d %d\n", sum, product, all[0], all[1], all[2], all[3], most.value, total);
    return 0;
}
