// Allocations that the library makes for the program, from lines of its headers: expected to be told as the program's
// own lines, with its calls above them.
// MODE: verify
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

__attribute__((noinline)) static void *take(size_t size) {
    return malloc(size); // take
}

__attribute__((noinline)) static void fill(std::vector<long> &into, long n) {
    for (long i = 0; i < n; i++) into.push_back(i); // fill
}

int main(int argc, char **) {
    std::vector<long> one, two;
    fill(one, 1000 * argc); // one
    fill(two, 100 * argc);  // two
    std::map<int, long> nodes;
    for (int i = 0; i < 50 * argc; i++) nodes[i] = i; // nodes
    void *first = take(argc * 100);  // first
    void *second = take(argc * 200); // second
    printf("%ld %ld %zu %d\n", one.back(), two.back(), nodes.size(), first != second);
    free(first);
    free(second);
}
