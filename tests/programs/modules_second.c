// PART of modules.c
static int cell;
static int same(int x) {
  cell = x * 3;
  return cell;
}
int second_value(int x) { return same(x); }
