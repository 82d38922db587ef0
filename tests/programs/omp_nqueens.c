// OpenMP tasks: n queens. A task for every queen that can be placed; each placement waits for those after it. In 1 to 6
// rows, six queens can be placed in 6, 20, 36, 46, 40 and 4 ways; the start waits, too, and whole placements do not.
// MODE: verify
// FLAGS: -fopenmp
// ARGS: 6
// THREADS: 1 2 4
// TASKS: 152
// COUNT: task_wait 149
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n, found;

static int fits(int row, const char *columns, int column) {
    for (int r = 0; r < row; r++) {
        int d = columns[r] - column;
        if (d == 0 || d == row - r || d == r - row)
            return 0;
    }
    return 1;
}

static void place(int row, const char *columns) {
    if (row == n) {
#pragma omp atomic
        found++;
        return;
    }
    for (int c = 0; c < n; c++) {
        if (!fits(row, columns, c))
            continue;
#pragma omp task firstprivate(c)
        {
            char mine[16];
            memcpy(mine, columns, (size_t)row);
            mine[row] = (char)c;
            place(row + 1, mine);
        }
    }
#pragma omp taskwait
}

int main(int argc, char **argv) {
    n = atoi(argv[argc - 1]);
#pragma omp parallel
#pragma omp single
    {
        char columns[16];
        place(0, columns);
    }
    printf("%d\n", found);
    return 0;
}
