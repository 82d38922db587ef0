// PART of dlopen.c, dlopen_again.c and dlopen_in_turn.c
#ifndef PLUGIN
#define PLUGIN 1
#endif
static const volatile int table[8] = {PLUGIN, 2, 3, 4, 5, 6, 7, 8};
int plugin_sum(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += table[i];
  return s;
}
const volatile int *plugin_table(void) { return table; }
