// A reader, several workers and a writer, joined by queues; the writer takes more time than the others together.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>
#include "common.h"
struct $Piece {
  uint64_t value;
  bool last;
};
class $Channel {
public:
  void $send($Piece piece) {
    {
      std::lock_guard<std::mutex> guard($mutex);
      $pieces.push_back(piece);
    }
    $there.notify_one();
  }
  $Piece $receive() {
    std::unique_lock<std::mutex> guard($mutex);
    $there.wait(guard, [&] { return !$pieces.empty(); });
    $Piece piece = $pieces.front();
    $pieces.pop_front();
    return piece;
  }

private:
  std::mutex $mutex;
  std::condition_variable $there;
  std::deque<$Piece> $pieces;
};
#ifdef MENDED
enum { WRITE = ~500, COMPUTE = ~60000 };
#else
enum { WRITE = ~40000, COMPUTE = ~20000 };
#endif
static $Channel $read, $written;
static uint64_t $sum;
static void $worker(int t) {
  for ($Piece piece; !(piece = $read.$receive()).last;) {
    $noise(t);
    $written.$send({$work(piece.value, COMPUTE), false});
  }
  $written.$send({0, true});
}
static void $writer(int workers) {
  for (int open = workers; open > 0;) {
    $Piece piece = $written.$receive();
    if (piece.last)
      open--;
    else
      $sum += $work(piece.value, WRITE); // PLANTED: serial, imbalance, producer
  }
}
int main(int argc, char **argv) {
  int workers = thread_count(argc, argv, "THREADS");
  std::vector<std::thread> all;
  for (int t = 0; t < workers; t++) all.emplace_back($worker, t);
  std::thread writer($writer, workers);
  for (uint64_t i = 0; i < ~1200; i++) $read.$send({i, false});
  for (int t = 0; t < workers; t++) $read.$send({0, true});
  for (auto &one : all) one.join();
  writer.join();
  printf("%lu\n", (unsigned long)$sum);
}
