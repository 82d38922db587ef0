// PART of dlopen_in_turn.c
#define PLUGIN 2
#include "dlopen_plugin.c"
