// quick_exit: its handlers run, the atexit ones do not; status 9.
// MODE: golden
// LEVELS: O0 O2
// EXPECT: exit 9
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(const char *s) { write(1, s, strlen(s)); }
static void quick(void) { say("quick\n"); }
static void slow(void) { say("slow\n"); }

int main(void) {
  atexit(slow);
  at_quick_exit(quick);
  say("main\n");
  quick_exit(9);
}
