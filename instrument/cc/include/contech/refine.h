// Partition refinement: how many items each part of a data-parallel loop should have, found while the program runs
// (Roth and others, "Deconstructing the Overhead in Parallel Applications", section VII). Link with -lcontech_refine.
//
// It is for loops that run repeatedly over about the same items. Each run is a round; in a round workers take parts
// of `size` items, one after the other:
//
//   struct contech_refine *refine = contech_refine_create(items, workers, 1);
//   for (...) {
//     uint64_t size = contech_refine_round_begin(refine);
//     #pragma omp parallel for schedule(dynamic, 1)
//     for (uint64_t from = 0; from < items; from += size) {
//       contech_refine_part_begin(refine, omp_get_thread_num(), 0);
//       ... items from, from + 1 ... below from + size and items ...
//       contech_refine_part_end(refine, omp_get_thread_num());
//     }
//     contech_refine_round_end(refine);
//   }
//   contech_refine_destroy(refine);
//
// C++: contech::refinement, with objects for rounds and parts, at the end of this file.
//
// A part costs two readings of the cycle counter and two calls, about 20 to 40 ns, until the size holds; from then on
// one round in eight is measured. The parts of one worker must come one after the other, and so must rounds. Any
// pointer may be null, which stands for a refinement that suggests 1. Nothing here prints, ends the program, or
// throws.
#ifndef CONTECH_REFINE_H
#define CONTECH_REFINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct contech_refine;

// Makes a refinement for a loop over so many items (if barriers divide it into stages: items of one stage), with
// workers numbered from 0. The first size is 1, or items / (2 * workers), or what an earlier run found. Returns null
// if the arguments are impossible.
struct contech_refine *contech_refine_create(uint64_t items, uint32_t workers, uint64_t initial);
void contech_refine_destroy(struct contech_refine *refine);

// Limits sizes to `smallest` to `largest`; the default is 1 to items / workers. The search begins anew from the
// present size.
void contech_refine_limits(struct contech_refine *refine, uint64_t smallest, uint64_t largest);

// Begins a round; returns its size.
uint64_t contech_refine_round_begin(struct contech_refine *refine);
// Ends the round after all its parts. From then on the size is that of the next round.
void contech_refine_round_end(struct contech_refine *refine);
uint64_t contech_refine_size(const struct contech_refine *refine);

// Called around each part, on the thread that executes it. `stage` numbers the sections of a round between barriers,
// from 0.
void contech_refine_part_begin(struct contech_refine *refine, uint32_t worker, uint32_t stage);
void contech_refine_part_end(struct contech_refine *refine, uint32_t worker);

// Called around the making of parts, if a worker makes them for all (tasks); this time counts as scheduling, too.
void contech_refine_dispatch_begin(struct contech_refine *refine, uint32_t worker, uint32_t stage);
void contech_refine_dispatch_end(struct contech_refine *refine, uint32_t worker);

// Whether the size stays, until the measurements change.
int contech_refine_holds(const struct contech_refine *refine);
// The overheads of the last measured round, as fractions of P T.
double contech_refine_scheduling(const struct contech_refine *refine);
double contech_refine_imbalance(const struct contech_refine *refine);

#ifdef __cplusplus
}

namespace contech {

// A loop's refinement; see the C functions of the same names.
class refinement {
  contech_refine *refine;

public:
  refinement(uint64_t items, uint32_t workers, uint64_t initial) : refine(contech_refine_create(items, workers, initial)) {}
  ~refinement() { contech_refine_destroy(refine); }
  refinement(const refinement &) = delete;
  refinement &operator=(const refinement &) = delete;

  void limits(uint64_t smallest, uint64_t largest) { contech_refine_limits(refine, smallest, largest); }
  uint64_t size() const { return contech_refine_size(refine); }
  bool holds() const { return contech_refine_holds(refine) != 0; }
  double scheduling() const { return contech_refine_scheduling(refine); }
  contech_refine *get() const { return refine; }
  double imbalance() const { return contech_refine_imbalance(refine); }

  // A part lasts from construction to destruction.
  class part {
    contech_refine *refine;
    uint32_t worker;

  public:
    part(const refinement &of, uint32_t worker, uint32_t stage = 0) : refine(of.refine), worker(worker) {
      contech_refine_part_begin(refine, worker, stage);
    }
    ~part() { contech_refine_part_end(refine, worker); }
    part(const part &) = delete;
    part &operator=(const part &) = delete;
  };

  // The making of parts lasts from construction to destruction.
  class dispatch {
    contech_refine *refine;
    uint32_t worker;

  public:
    dispatch(const refinement &of, uint32_t worker, uint32_t stage = 0) : refine(of.refine), worker(worker) {
      contech_refine_dispatch_begin(refine, worker, stage);
    }
    ~dispatch() { contech_refine_dispatch_end(refine, worker); }
    dispatch(const dispatch &) = delete;
    dispatch &operator=(const dispatch &) = delete;
  };

  // A round lasts from construction to destruction.
  class round {
    contech_refine *refine;
    uint64_t now;

  public:
    explicit round(const refinement &of) : refine(of.refine), now(contech_refine_round_begin(of.refine)) {}
    ~round() { contech_refine_round_end(refine); }
    round(const round &) = delete;
    round &operator=(const round &) = delete;
    uint64_t size() const { return now; }
  };
};

} // namespace contech
#endif
#endif
