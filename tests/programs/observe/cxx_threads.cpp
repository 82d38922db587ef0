// Threads of the C++ library, twice: the phase is where the program makes them.
#include <chrono>
#include <cstdio>
#include <future>
#include <thread>
#include <vector>

static void sleeper() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

__attribute__((noinline)) void fork_and_join() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back(sleeper);
    for (auto &thread : threads)
        thread.join();
}

int main() {
    fork_and_join();
    fork_and_join();
    std::async(std::launch::async, sleeper).get();
    std::printf("joined\n");
}
