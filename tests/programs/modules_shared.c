// PART of modules.c
static int cell;
static int same(int x) {
  cell = x * 7;
  return cell;
}
int shared_value(int x) { return same(x); }
