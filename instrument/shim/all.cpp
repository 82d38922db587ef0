// The whole shim as one unit, because reading LLVM's headers takes most of the time of compiling each part.

#include "shim.cpp"
#include "scev.cpp"
#include "waits.cpp"
#include "atomics.cpp"
#include "openmp.cpp"
#include "carry.cpp"
#include "sanitize.cpp"
#include "regions.cpp"
