// PART of dlopen.c and dlopen_again.c
static const volatile int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
int plugin_sum(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += table[i];
  return s;
}
const volatile int *plugin_table(void) { return table; }
