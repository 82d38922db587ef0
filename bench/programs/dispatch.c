// An interpreter of a small machine: one indirect call per instruction.
#include <stdio.h>
#include <stdlib.h>
static long stack[64], memory[256];
static int sp, pc;
typedef void Op(long);
static void push(long v) { stack[sp++] = v; }
static void load(long a) { stack[sp++] = memory[a]; }
static void store(long a) { memory[a] = stack[--sp]; }
static void add(long v) { sp--, stack[sp - 1] += stack[sp] + v; }
static void mul(long v) { sp--, stack[sp - 1] = (stack[sp - 1] * stack[sp] + v) & 0xffffff; }
static void jump_if_less(long to) {
  sp -= 2;
  if (stack[sp] < stack[sp + 1]) pc = (int)to;
}
static struct {
  Op *op;
  long operand;
} program[] = {{push, 0}, {store, 0}, {push, 1}, {store, 1}, {load, 1}, {push, 3}, {mul, 7}, {store, 1}, {load, 0},
               {push, 1}, {add, 0}, {store, 0}, {load, 0}, {push, 1000}, {jump_if_less, 4}};
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1, sum = 0;
  for (long r = 0; r < reps; r++) {
    for (pc = 0; pc < (int)(sizeof program / sizeof *program);) {
      int at = pc++;
      program[at].op(program[at].operand);
    }
    sum += memory[1] ^ r;
  }
  printf("%ld\n", sum);
}
