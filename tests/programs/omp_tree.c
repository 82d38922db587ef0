// OpenMP tasks: an update of a binary tree of depth 7: a task for each of 2 + 4 + ... + 128 children, nobody waits but the
// taskgroup.
// MODE: verify
// FLAGS: -fopenmp
// THREADS: 1 2 4
// TASKS: 254
// COUNT: task_wait 0
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *child[2];
    long value;
};

static struct node *grow(int depth) {
    struct node *n = malloc(sizeof *n);
    n->value = depth;
    for (int i = 0; i < 2; i++)
        n->child[i] = depth ? grow(depth - 1) : NULL;
    return n;
}

static void update(struct node *n) {
    n->value = n->value * 2 + 1;
    for (int i = 0; i < 2; i++)
        if (n->child[i]) {
            struct node *c = n->child[i];
#pragma omp task firstprivate(c)
            update(c);
        }
}

static long sum(const struct node *n) {
    return n ? n->value + sum(n->child[0]) + sum(n->child[1]) : 0;
}

static void cut(struct node *n) {
    if (n) {
        cut(n->child[0]);
        cut(n->child[1]);
        free(n);
    }
}

int main(void) {
    struct node *root = grow(7);
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
        update(root);
        printf("%ld\n", sum(root));
    }
    cut(root);
    return 0;
}
