// Unbalanced binary search tree and a linked list: build, look up, sum, free.
#include <stdio.h>
#include <stdlib.h>
struct Node {
  struct Node *left, *right, *next;
  unsigned key;
  unsigned long value;
};
static struct Node *root, *list;
static void insert(unsigned key) {
  struct Node **at = &root;
  while (*at) {
    if ((*at)->key == key) {
      (*at)->value++;
      return;
    }
    at = key < (*at)->key ? &(*at)->left : &(*at)->right;
  }
  struct Node *n = calloc(1, sizeof *n);
  n->key = key;
  n->value = 1;
  n->next = list;
  *at = list = n;
}
static unsigned long sum(const struct Node *n, int depth) {
  return n ? n->value * (unsigned)depth + sum(n->left, depth + 1) + sum(n->right, depth + 1) : 0;
}
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  unsigned long total = 0;
  for (long r = 0; r < reps; r++) {
    unsigned s = (unsigned)r + 1;
    root = list = NULL;
    for (int i = 0; i < 20000; i++) insert((s = s * 1664525u + 1013904223u) >> 12);
    total += sum(root, 1);
    while (list) {
      struct Node *n = list;
      list = n->next;
      total += n->key;
      free(n);
    }
  }
  printf("%lu\n", total);
}
