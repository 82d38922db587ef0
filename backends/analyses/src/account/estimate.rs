//! Estimates, by models, what is lost while contexts run: to caches, to lines that move between
//! processors, and to allocation.
//!
//! The running time is divided in proportion to what the code and each of these would take on a
//! usual machine. So the slowness of recording, which all of them share, does not matter.

use rustc_hash::FxHashMap;
use taskgraph::{BlockId, StaticInfo};

use super::grain::Grain;
use super::measured::{Code, Kernel};
use super::sums::{Spent, Sums};
use super::weights::Weights;
use super::{Loss, Operations, Report, Row};
use crate::analysis::source::Place;
use crate::view::units::{ratio, whole};
use crate::{memuse, misses, sharing};

/// Time of an IR instruction, ns.
pub(super) const OP_NS: f64 = 0.3;
/// The additional cost of a miss in a cache of at least so many bytes over a miss in a smaller one,
/// ns. The processor has other things to do for most of the time that the second cache takes.
const MISS_NS: [(u64, f64); 3] = [(32 << 10, 1.0), (1 << 20, 12.0), (32 << 20, 60.0)];
/// The part of a miss's cost that remains if the processor fetches the line ahead.
const AHEAD: f64 = 0.1;
/// Cost of fetching a line that another processor wrote, ns.
const TRANSFER_NS: f64 = 80.0;
/// The same if the line is beside the one before, which lets the processor fetch it ahead, ns. (Two
/// threads that add to 32 KiB in turn took 3.2 ns more per line than one.)
const TRANSFER_AHEAD_NS: f64 = 4.0;
/// Additional cost if the processors fight for the line: the other one keeps it for a while, and
/// then it comes back.
const CONTEST_NS: f64 = TRANSFER_NS + sharing::SLICE as f64;
/// Cost of an allocation and its release, ns.
const ALLOCATION_NS: f64 = 20.0;
/// An allocator keeps no block of at least so many bytes. It asks the kernel for each one (glibc's
/// `M_MMAP_THRESHOLD` never grows beyond this).
const FROM_KERNEL: u64 = 32 << 20;
/// Cost of a page that the kernel clears and gives to the process, and its size.
const PAGE_NS: f64 = 1000.0;
const PAGE: u64 = 4096;
/// Recorded code takes at most so many times what it would take on a usual machine. If a run takes
/// longer, it calls code that was not recorded, which loses nothing to what is known of the rest.
const SLOWEST: f64 = 10.0;
/// Cost of a call that takes a lock which is free, with giving it back, ns, by how the callees'
/// names begin. (4 M pairs of `pthread_mutex_lock` and `unlock` in two threads took 18 ns each.)
const LOCK_NS: [(&[&str], &str, f64); 6] = [
    (&["pthread_mutex_lock"], "pthread_mutex_unlock", 17.0),
    (&["pthread_spin_lock"], "pthread_spin_unlock", 8.0),
    (&["pthread_rwlock_rdlock", "pthread_rwlock_wrlock"], "pthread_rwlock_unlock", 20.0),
    (&["sem_wait"], "sem_post", 10.0),
    (&["omp_set_lock"], "omp_unset_lock", 20.0),
    (&["__kmpc_critical"], "__kmpc_end_critical", 20.0),
];
/// Where these calls took so many times as long as that, their lock is fought for: they wait for
/// its line, or wake and are woken by the kernel.
const FOUGHT: f64 = 4.0;
/// An IR instruction of recorded code takes no longer, ns, for the most part.
const RECORDED_OP_NS: f64 = 1.2;
/// Cost of a read-modify-write of an atomic variable in a cache of its own, ns.
const ATOMIC_NS: f64 = 5.0;
/// The same of one that several processors use all the time, ns of each of them: one goes on, and
/// the others wait for the line. (Two threads that add to one counter took 27 ns each, four on two
/// processors the same.)
const CONTENDED_NS: f64 = 14.0;
/// An IR instruction takes no less time, ns: several of them are one instruction of a processor
/// that does four at a time.
const FASTEST_NS: f64 = 0.08;
/// Cost of handing out a piece of a loop, ns (libomp, `schedule(dynamic)`).
const HANDOUT_NS: f64 = 200.0;

/// What operations of a lock cost is told with the waits for it if it is at least one part in so
/// many of these.
const BESIDE: u64 = 20;

/// The causes that need no model. A model of memory knows more of allocation.
const KNOWN: [Loss; 4] = [Loss::Locking, Loss::System, Loss::Copying, Loss::Allocation];

impl Report {
    /// Moves the time that the models call lost from the useful time to the losses.
    pub fn estimate(
        &mut self,
        info: &StaticInfo,
        misses: Option<&misses::Report>,
        sharing: Option<&sharing::Report>,
        memory: Option<&memuse::Report>,
    ) {
        // What was estimated without the models is estimated anew.
        let former = |row: &Row| KNOWN.contains(&row.cause);
        let ns = self.losses.iter().filter(|row| former(row)).map(|row| row.ns);
        self.useful_ns += ns.sum::<u64>();
        self.losses.retain(|row| !former(row));
        for row in &mut self.losses {
            self.useful_ns += row.without_operations();
        }
        let mut cache = misses.map_or_else(Estimate::default, cache);
        let mut transfers = sharing.map_or_else(Estimate::default, transfers);
        if let Some(measured) = &self.measured {
            bound(&measured.code, [&mut cache, &mut transfers]);
        }
        let memory_use = memory
            .map_or_else(Estimate::default, |memory| allocations(memory, self.measured.as_ref()));
        let modelled = vec![
            (Loss::Cache, cache),
            (Loss::Sharing, transfers),
            (Loss::Allocation, memory_use),
            (Loss::Scheduling, self.handouts(memory)),
        ];
        self.lose(info, modelled);
    }

    /// Moves the time that copies, the system, calls for memory, and operations of locks and atomic
    /// variables take, which needs no model.
    pub(super) fn estimate_known(&mut self, info: &StaticInfo) {
        self.lose(info, Vec::new());
    }

    /// Moves the time of these causes, and of those that need no model.
    fn lose(&mut self, info: &StaticInfo, found: Vec<(Loss, Estimate)>) {
        let modelled = |cause: &Loss| found.iter().any(|one| one.0 == *cause);
        let known = KNOWN.into_iter().filter(|cause| !modelled(cause));
        let known: Vec<_> = known.map(|cause| (cause, self.known(cause))).collect();
        let found: Vec<(Loss, Estimate)> = found.into_iter().chain(known).collect();
        let costs = found.iter().map(|(_, found)| found.ns + found.needed_ns);
        let twice = one_loss(&found, |of| of.code.as_ref())
            .map_or(0.0, |(own, lines)| found[own].1.ns.min(found[lines].1.ns));
        let all = self.ir_ops as f64 * OP_NS + costs.sum::<f64>() - twice;
        // What code that was not recorded does is not known to the models.
        let running_ns = self.useful_ns.saturating_sub(self.outside_ns);
        let running = running_ns as f64;
        // Who waits for slow code waits for less of it.
        let (useful_ns, fights) = (self.useful_ns, self.locking.fought_ns > 0.0);
        let waits = |causes: &[Loss]| -> u64 {
            let rows = self.losses.iter().filter(|row| causes.contains(&row.cause));
            rows.map(|row| row.ns).sum()
        };
        let beside = waits(&[Loss::Imbalance, Loss::Barrier]);
        let for_locks = waits(&[Loss::Lock]);
        let with_it = |cause| match cause {
            Loss::Locking if fights => 1.0 + ratio(beside + for_locks, useful_ns),
            _ => 1.0 + ratio(beside, useful_ns),
        };
        let greedy = self.predicted.greedy.clone();
        let slow = f64::min(running / all.max(1.0), SLOWEST);
        let lost = found.into_iter().map(|(cause, found)| (cause, found.lost(slow)));
        let mut lost: Vec<_> = lost.collect();
        join_operations(&mut lost);
        // They may see the same time: what an atomic operation takes is in that of its line.
        let all: f64 = lost.iter().map(|lost| lost.1.ns).sum();
        let possible = (self.useful_ns as f64 / all.max(1.0)).min(1.0);
        for (cause, spent) in lost {
            let ns = whole(possible * spent.ns);
            if ns == 0 {
                continue;
            }
            self.useful_ns = self.useful_ns.saturating_sub(ns);
            let row = Row {
                ns,
                share: ratio(ns, self.total_ns),
                code: spent.place,
                callee: match cause {
                    Loss::System => self.measured.as_ref().and_then(|of| of.callee.clone()),
                    _ => None,
                },
                mended: Row::scaled(&greedy, ratio(ns, self.total_ns) * with_it(cause)),
                ..Row::of(cause)
            };
            let waits = self.losses.iter_mut().filter(|other| other.is_of_operations(&row));
            if let Some(waits) = waits.max_by_key(|other| other.ns) {
                let share = row.share * (1.0 + ratio(beside, useful_ns));
                waits.add_operations(row.ns, (row.share, share));
                continue;
            }
            match self.losses.iter_mut().find(|other| other.cause == cause) {
                Some(other) => other.join(row),
                None => self.losses.push(row),
            }
        }
        super::callers::name(info, &self.executed, &mut self.losses);
        super::sort(&mut self.losses);
        self.grain = Grain::of(self, self.contexts.saturating_add(self.handouts));
    }
}

/// What is said of the operations of locks and atomic variables, and of the lines that processors
/// take from each other, where most lines are taken by the operations that cost most themselves.
/// Both are one loss then: whoever is without these operations is without both.
fn one_loss<T>(said: &[(Loss, T)], place: impl Fn(&T) -> Option<&Place>) -> Option<(usize, usize)> {
    let of = |cause: Loss| said.iter().position(|one| one.0 == cause);
    let (own, lines) = (of(Loss::Locking)?, of(Loss::Sharing)?);
    let at = |number: usize| place(&said[number].1);
    at(own)?.is_at_line_of(at(lines)?).then_some((own, lines))
}

/// Makes one loss of both.
fn join_operations(lost: &mut [(Loss, Spent)]) {
    let both = one_loss(lost, |spent| spent.place.as_ref().filter(|_| spent.ns > 0.0));
    if let Some((own, lines)) = both {
        // If the operations are known to be contended, their cost has the lines.
        let taken = std::mem::take(&mut lost[lines].1.ns);
        lost[own].1.ns = lost[own].1.ns.max(taken);
    }
}

impl Row {
    /// Whether the loss is waiting for what most of these operations are done with, so that both
    /// are one loss: at a lock, or in the function of a queue.
    fn is_of_operations(&self, operations: &Self) -> bool {
        let counts = operations.cause == Loss::Locking && operations.ns * BESIDE >= self.ns;
        let Some(code) = operations.code.as_ref().filter(|_| counts) else {
            return false;
        };
        let at = |place: &Place| place.is_at_line_of(code);
        let within = |place: &Place| place.function == code.function;
        let mut places = [&self.wait, &self.inner].into_iter().flatten();
        match self.cause {
            Loss::Lock => places.any(at),
            Loss::Scheduling => places.any(within),
            _ => false,
        }
    }

    /// Adds what the operations cost, and their share of the time, which is more of the run's
    /// duration.
    fn add_operations(&mut self, ns: u64, (share, of_run): (f64, f64)) {
        self.operations = Some(Operations { ns, share, mended: self.mended.clone() });
        self.ns += ns;
        self.share += share;
        for gain in &mut self.mended {
            *gain = 1.0 / (1.0 / *gain - of_run).max(0.01);
        }
    }

    /// Takes the cost of the operations away again, and returns it, ns.
    fn without_operations(&mut self) -> u64 {
        let Some(Operations { ns, share, mended }) = self.operations.take() else {
            return 0;
        };
        self.ns -= ns;
        self.share -= share;
        self.mended = mended;
        ns
    }

    /// Adds a loss of the same cause: the larger of the two says where.
    fn join(&mut self, other: Self) {
        let (ns, share) = (self.ns + other.ns, self.share + other.share);
        // Whoever is without both gains from both.
        let both = self.mended.iter().zip(&other.mended);
        let mended: Vec<f64> = both.map(|(a, b)| a * b).collect();
        let own = self.ns as f64 / ns.max(1) as f64;
        self.part = self.part.map(|part| part * own);
        if other.ns > self.ns {
            (self.code, self.part, self.callers) = (other.code, other.part, other.callers);
        }
        (self.ns, self.share, self.mended) = (ns, share, mended);
    }
}

impl Report {
    fn known(&self, cause: Loss) -> Estimate {
        let kernel = |of: fn(&Kernel) -> &Spent| -> Spent {
            self.measured.as_ref().map(of).cloned().unwrap_or_default()
        };
        let (ns, measured) = match cause {
            Loss::Locking => {
                let Locking { ns, fought_ns, code } = self.locking.clone();
                let waking = kernel(|kernel| &kernel.waking);
                let place = waking.place.filter(|_| waking.ns > f64::max(ns, fought_ns)).or(code);
                (ns, Spent { ns: fought_ns.max(waking.ns), place })
            }
            Loss::Copying => (0.0, self.copying.clone()),
            Loss::Allocation => (0.0, kernel(|kernel| &kernel.memory)),
            _ => (0.0, kernel(|kernel| &kernel.system)),
        };
        Estimate { ns, measured_ns: measured.ns, code: measured.place, ..Estimate::default() }
    }

    /// The pieces of loops that threads fetched one by one, with what the OpenMP runtime allocated
    /// for them.
    fn handouts(&self, memory: Option<&memuse::Report>) -> Estimate {
        let sites = memory.into_iter().flat_map(|memory| &memory.sites);
        let inside = sites.filter(|row| of_openmp(&row.site.allocator));
        let allocations: u64 = inside.map(|row| row.site.allocations).sum();
        Estimate {
            ns: self.handouts as f64 * HANDOUT_NS + allocations as f64 * ALLOCATION_NS,
            code: self.handed_out.clone(),
            ..Estimate::default()
        }
    }
}

/// What operations of locks and atomic variables take by themselves.
#[derive(Clone, Debug, Default)]
pub(super) struct Locking {
    /// Of locks where nobody else uses them, and of atomic variables, on a usual machine, ns.
    ns: f64,
    /// Of locks that several threads fight for, in the recorded run, ns.
    fought_ns: f64,
    /// The call that takes most.
    code: Option<Place>,
}

/// The operations of locks and atomic variables. Of atomic operations it is known how many
/// executors do them on the same lines. What locks are fought for is known where a recorder
/// `measured` the times.
pub(super) fn locking(
    weights: &Weights,
    info: &StaticInfo,
    (contended, processors): (&FxHashMap<BlockId, u32>, u32),
    measured: bool,
) -> Locking {
    let (mut locking, mut most_ns) = (Locking::default(), 0.0);
    let mut add = |ns: f64, place: Option<Place>, fought: bool| {
        match fought {
            true => locking.fought_ns += ns,
            false => locking.ns += ns,
        }
        if ns >= most_ns {
            (most_ns, locking.code) = (ns, place);
        }
    };
    for (takes, gives, each_ns) in LOCK_NS {
        let found = takes.iter().map(|callee| weights.calls(info, callee));
        let place = found.clone().max_by_key(|found| found.0).and_then(|found| found.1);
        let free_ns = found.map(|found| found.0 as f64 * each_ns).sum::<f64>();
        let callees = takes.iter().chain([&gives]);
        let ns = callees.map(|callee| weights.beyond(info, callee, RECORDED_OP_NS)).sum::<f64>();
        let fought = measured && free_ns > 0.0 && ns >= free_ns * FOUGHT;
        add(if fought { ns } else { free_ns }, place, fought);
    }
    let atomics = weights.atomics(info, |block| match contended.get(&block) {
        Some(&executors) => CONTENDED_NS * f64::from(executors.min(processors)),
        None => ATOMIC_NS,
    });
    add(atomics.ns, atomics.place, false);
    locking
}

/// What the models say of a cause.
#[derive(Default)]
struct Estimate {
    /// What is lost.
    ns: f64,
    /// What was measured to be lost beside that.
    measured_ns: f64,
    /// What must be done in any case.
    needed_ns: f64,
    /// Where most is lost.
    code: Option<Place>,
    /// What is lost by the place of the access, in any unit.
    places: Sums<Place>,
    /// The same by block, bounded by what was measured.
    bounded: Option<Vec<Bounded>>,
}

/// What a model says of a block, and how much longer than its instructions the block took, ns.
struct Bounded {
    ns: f64,
    beyond_ns: f64,
    place: Place,
}

/// Bounds what these models say of why code waits for memory by what was measured of each block. So
/// they say why code is slow, and not that it is.
fn bound(code: &[Code], models: [&mut Estimate; 2]) {
    // Several blocks may be at one line.
    let mut at_place: FxHashMap<&Place, f64> = FxHashMap::default();
    for block in code {
        for place in &block.places {
            *at_place.entry(place).or_default() += block.instructions;
        }
    }
    let mut bounded = [Vec::new(), Vec::new()];
    for block in code {
        let beyond = (block.ns - block.instructions * FASTEST_NS).max(0.0);
        let costs = |place: &Place| {
            let part = block.instructions / at_place[place].max(1.0);
            [0, 1].map(|at| models[at].places.get(place).map_or(0.0, |cost| cost * part))
        };
        let each = block.places.iter().map(|place| (place, costs(place)));
        let sums = each.clone().fold([0.0; 2], |[a, b], (_, [c, d])| [a + c, b + d]);
        for at in 0..2 {
            let worst = each.clone().max_by(|a, b| a.1[at].total_cmp(&b.1[at]));
            bounded[at].extend(worst.map(|(place, _)| Bounded {
                ns: sums[at],
                beyond_ns: beyond * sums[at] / (sums[0] + sums[1]).max(1.0),
                place: place.clone(),
            }));
        }
    }
    for (model, bounded) in models.into_iter().zip(bounded) {
        model.bounded = Some(bounded);
    }
}

impl Estimate {
    /// What is lost if code takes so many times what it takes on a usual machine.
    fn lost(self, slow: f64) -> Spent {
        let Some(blocks) = self.bounded else {
            return Spent { ns: slow * self.ns + self.measured_ns, place: self.code };
        };
        let (mut lost, mut most) = (Spent::default(), 0.0);
        for block in blocks {
            let ns = (slow * block.ns).min(block.beyond_ns);
            lost.ns += ns;
            if ns > most {
                (most, lost.place) = (ns, Some(block.place));
            }
        }
        lost
    }
}

/// Lines that are used for the first time must be fetched in any case, so they cost nothing here.
fn cache(misses: &misses::Report) -> Estimate {
    let cost = |row: &misses::Instruction| {
        let level = |&(size, ns): &(u64, f64)| {
            let at = misses.sizes.iter().position(|&other| other >= size)?;
            let (all, far) = (*row.misses.get(at)?, *row.far.get(at)?);
            let near = all.saturating_sub(row.first).saturating_sub(far);
            Some((far as f64 + near as f64 * AHEAD) * ns)
        };
        MISS_NS.iter().filter_map(level).sum::<f64>()
    };
    let rows = misses.instructions.iter().map(|row| (cost(row), row));
    let most = rows.clone().max_by(|a, b| a.0.total_cmp(&b.0));
    let code = most.map(|(_, row)| row.place.clone());
    let mut places: Sums<Place> = FxHashMap::default();
    let mut all = 0.0;
    for (ns, row) in rows {
        all += ns;
        *places.entry(row.place.clone()).or_default() += ns;
    }
    Estimate { ns: all, code, places, ..Estimate::default() }
}

/// True sharing costs as much as false sharing does.
fn transfers(sharing: &sharing::Report) -> Estimate {
    let most = sharing.totals.iter().max_by_key(|total| total.misses());
    let Some(total) = most else {
        return Estimate::default();
    };
    let pairs = sharing.sources.iter().filter(|row| row.size == total.line);
    let source = pairs.clone().max_by_key(|row| row.misses);
    let far = total.misses().saturating_sub(total.ahead) as f64 * TRANSFER_NS;
    let ahead = total.ahead as f64 * TRANSFER_AHEAD_NS;
    let ns = far + ahead + total.contested as f64 * CONTEST_NS;
    let mut places: Sums<Place> = FxHashMap::default();
    for row in pairs {
        let part = row.misses as f64 / total.misses().max(1) as f64;
        *places.entry(row.b.clone()).or_default() += ns * part;
    }
    Estimate { ns, places, code: source.map(|row| row.a.clone()), ..Estimate::default() }
}

/// Whether the call is one of an OpenMP runtime. What it allocates is a part of its own cost.
fn of_openmp(callee: &str) -> bool {
    ["__kmpc_", "GOMP_"].iter().any(|prefix| callee.starts_with(prefix))
}

/// Blocks from the kernel cost their pages. The pages that are live at one time must be had in any
/// case. What they cost was measured, or else it is estimated for large blocks.
fn allocations(memory: &memuse::Report, measured: Option<&Kernel>) -> Estimate {
    let pages = |row: &memuse::SiteUse, bytes: u64| {
        let each = row.site.bytes / row.site.allocations.max(1);
        let pages = if each < FROM_KERNEL { 0 } else { bytes / PAGE };
        pages as f64 * PAGE_NS
    };
    let cost = |row: &memuse::SiteUse| {
        let again = row.site.bytes.saturating_sub(row.peak_bytes);
        row.site.allocations as f64 * ALLOCATION_NS + pages(row, again)
    };
    let own = |row: &&memuse::SiteUse| !of_openmp(&row.site.allocator);
    let sites = memory.places();
    let once = sites.iter().filter(own);
    let needed_ns = once.map(|row| pages(row, row.peak_bytes)).sum();
    let rows = sites.iter().filter(own).map(|row| (cost(row), row));
    let most = rows.clone().max_by(|a, b| a.0.total_cmp(&b.0));
    let code = most.map(|(_, row)| row.site.place.clone());
    let Some(kernel) = measured.filter(|kernel| kernel.fault_count > 0.0) else {
        return Estimate {
            ns: rows.map(|(ns, _)| ns).sum(),
            needed_ns,
            code,
            ..Estimate::default()
        };
    };
    let own = sites.iter().filter(own);
    let (number, pages) = own.fold((0, 0), |(number, pages), row| {
        (number + row.site.allocations, pages + row.peak_bytes / PAGE)
    });
    let Kernel { memory, faults, fault_count, .. } = kernel;
    let again = (fault_count - pages as f64).max(0.0) / fault_count.max(1.0);
    let ns = number as f64 * ALLOCATION_NS;
    let faults_ns = faults.ns * again;
    // The model knows where memory is asked for, and the kernel what it did for whom.
    let code = if ns >= memory.ns.max(faults_ns) {
        code
    } else if memory.ns >= faults_ns {
        memory.place.clone().or(code)
    } else {
        faults.place.clone().or(code)
    };
    Estimate { ns, measured_ns: memory.ns + faults_ns, code, ..Estimate::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_atomic_operations_take_from_each_other_are_a_part_of_their_cost() {
        let at = |line| {
            let place = Place { file: "a.c".to_owned(), line, ..Place::default() };
            Some(place)
        };
        let joined = |other| {
            let spent = |ns, line| Spent { ns, place: at(line) };
            let mut lost = [(Loss::Sharing, spent(40.0, other)), (Loss::Locking, spent(10.0, 7))];
            join_operations(&mut lost);
            lost.map(|one| one.1.ns)
        };
        assert_eq!(joined(7), [0.0, 40.0]);
        // False sharing elsewhere is another loss.
        assert_eq!(joined(8), [40.0, 10.0]);
    }
}
