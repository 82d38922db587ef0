// PART of modules.c
static int cell;
static int same(int x) {
  cell = x * 5;
  return cell;
}
int archive_value(int x) { return same(x); }
