//! What code takes by measurement: how long an instruction of each block takes is what explains
//! best how long stretches and tasks ran, and time in the kernel is divided among calls and page
//! faults in the same way.

use rustc_hash::FxHashMap;
use taskgraph::{BlockId, OpId, StaticInfo};

use super::explain::{Amounts, explain, sums};
use super::stretches::{Stretches, TaskPart};
use super::sums::{Spent, Sums, add_all, largest};
use crate::analysis::is_operation;
use crate::analysis::source::Place;

/// Tasks are told apart by the blocks that they execute, in so many kinds.
const KINDS: u32 = 4096;
/// A block that would take so long (ns) by the pace of all code keeps that pace as long as nothing
/// else is known of it.
const KNOWN_NS: f64 = 10_000.0;
/// Instructions that a call of code that was not recorded takes the time of, if nothing was
/// measured. Synchronisation has times of its own.
pub(super) const CALL: u64 = 50;
/// The part of a call that the kernel takes at least, if the call is one of the system. The
/// kernel's clock leaves out the way there and back, which takes as long as a short call does.
const OF_SYSTEM: f64 = 1.0 / 3.0;
/// Instructions that take as long as a page fault, to begin with, and as a wait in the kernel with
/// the way to it and back.
const FAULT: f64 = 1000.0;
const WAIT: f64 = 4000.0;
/// An operation that takes less than this, ns, has not waited in the kernel.
const WAITED_NS: u64 = 2000;

/// The number of a task's kind, by the blocks it executes. Tasks that have a number in common by
/// chance do no harm: their sums are as true.
pub(super) fn kind(blocks: impl Iterator<Item = BlockId>) -> u32 {
    blocks.fold(0, |sum: u32, block| {
        let mixed = (block.get().wrapping_add(1)).wrapping_mul(0x9e37_79b1);
        sum.wrapping_add(mixed ^ mixed >> 15)
    }) % KINDS
}

/// What was executed, in instructions ([`super::weights::Work`]) of each block.
#[derive(Debug, Default)]
pub(super) struct Executed {
    /// In each stretch. It tells what time in the kernel is for.
    stretches: Amounts<BlockId>,
    /// In tasks that execute the same blocks, and in the parts of tasks that were divided; and how
    /// long these ran, ns. It tells how long blocks take.
    tasks: Amounts<BlockId>,
    ran: Sums<u32>,
    /// Number of waits in each stretch.
    waits: Sums<u32>,
}

impl Executed {
    /// Adds an operation of so many ns, which is no work, in a stretch.
    pub(super) fn add_operation(&mut self, stretch: Option<u32>, ns: u64) {
        if let Some(stretch) = stretch.filter(|_| ns >= WAITED_NS) {
            *self.waits.entry(stretch).or_default() += 1.0;
        }
    }

    /// Adds a part of a task. `ran` says whether the task's time is that of its blocks.
    pub(super) fn add(
        &mut self,
        part: TaskPart,
        ran: bool,
        blocks: impl Iterator<Item = (BlockId, u64)> + Clone,
    ) {
        if let Some(stretch) = part.stretch {
            let amounts = blocks.clone().map(|(block, amount)| ((stretch, block), amount as f64));
            add_all(&mut self.stretches, amounts);
        }
        if !ran || part.ran_ns == 0 {
            return;
        }
        let number = match (part.whole, part.stretch) {
            (false, Some(stretch)) => KINDS + stretch,
            _ => kind(blocks.clone().map(|(block, _)| block)),
        };
        *self.ran.entry(number).or_default() += part.ran_ns as f64;
        add_all(&mut self.tasks, blocks.map(|(block, amount)| ((number, block), amount as f64)));
    }

    pub(super) fn merge(&mut self, other: Self) {
        add_all(&mut self.stretches, other.stretches);
        add_all(&mut self.tasks, other.tasks);
        add_all(&mut self.ran, other.ran);
        add_all(&mut self.waits, other.waits);
    }
}

/// What was measured of the code of a run.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// How long an instruction of each block takes, ns, and one of all code.
    each_ns: Sums<BlockId>,
    pace_ns: f64,
    /// Instructions of each block.
    amounts: Sums<BlockId>,
    /// Time in the kernel that is not for page faults, by the block with the call, ns.
    pub(super) system: Sums<BlockId>,
    /// Time in the kernel for page faults, and their number.
    pub(super) faults_ns: f64,
    pub(super) faults: f64,
    /// The part of the faults that code has, by the block.
    pub(super) faulting: Sums<BlockId>,
}

/// What costs time in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Thing {
    Call(BlockId),
    Faults,
    /// Those of the recording itself.
    OwnFaults,
    /// Operations that wait, whose time is told as that of waiting.
    Waits,
}

/// What a run's time in the kernel was for.
#[derive(Clone, Debug, Default)]
pub(super) struct Kernel {
    /// Calls of the system, and the function that is called where most of it was spent.
    pub(super) system: Spent,
    pub(super) callee: Option<String>,
    /// Calls that ask for memory or give it back.
    pub(super) memory: Spent,
    /// Calls with which a context wakes others.
    pub(super) waking: Spent,
    /// Page faults, and their number.
    pub(super) faults: Spent,
    pub(super) fault_count: f64,
    pub(super) code: Vec<Code>,
}

/// A block that accesses memory and calls nothing that was not recorded.
#[derive(Clone, Debug)]
pub(super) struct Code {
    /// The lines of its accesses.
    pub(super) places: Vec<Place>,
    /// How long it took without page faults, ns.
    pub(super) ns: f64,
    /// Its instructions.
    pub(super) instructions: f64,
}

impl Measured {
    /// What the stretches say of what was executed in them. `calls` is how many instructions an
    /// execution of a block counts as, if it calls code that was not recorded. `None` if nothing
    /// was measured.
    pub(super) fn of(
        stretches: &Stretches,
        executed: &Executed,
        calls: impl Fn(BlockId) -> Option<u64>,
    ) -> Option<Self> {
        let (ran, blocks) = (&executed.ran, &executed.tasks);
        // Nothing is known before of how long code takes that was not recorded.
        let known = |block, noise: f64| match calls(block) {
            Some(_) => 0.0,
            None => noise.max(KNOWN_NS),
        };
        let each_ns = explain(blocks, ran, known)?;
        let mut amounts: Sums<BlockId> = FxHashMap::default();
        add_all(&mut amounts, blocks.iter().map(|(&(_, block), &amount)| (block, amount)));
        let all: f64 = amounts.values().sum();
        let mut measured = Self {
            each_ns,
            pace_ns: ran.values().sum::<f64>() / all.max(1.0),
            amounts,
            ..Self::default()
        };
        let faults = stretches.counted(|one| one.faults.saturating_sub(one.own_faults));
        let own_faults = stretches.counted(|one| one.own_faults);
        measured.faults = faults.values().sum();
        if let Some(each) = explain(&executed.stretches, &faults, |_, _| 1.0) {
            measured.faulting = sums(&executed.stretches, &faults, &each);
        }
        let system = stretches.counted(|one| one.system_ns);
        let mut amounts: Amounts<Thing> = FxHashMap::default();
        for (&(stretch, block), &amount) in &executed.stretches {
            // A call of the system takes as long whatever the block does beside it.
            if let Some(each) = calls(block) {
                let times = amount / each as f64 * CALL as f64;
                *amounts.entry((stretch, Thing::Call(block))).or_default() += times;
            }
        }
        for (thing, faults) in [(Thing::Faults, &faults), (Thing::OwnFaults, &own_faults)] {
            for (&stretch, &faults) in faults {
                // As many instructions as a page fault takes the time of.
                amounts.insert((stretch, thing), faults * FAULT);
            }
        }
        for (&stretch, &waits) in &executed.waits {
            amounts.insert((stretch, Thing::Waits), waits * WAIT);
        }
        let each = explain(&amounts, &system, |_, _| KNOWN_NS).unwrap_or_default();
        for (thing, ns) in sums(&amounts, &system, &each) {
            match thing {
                Thing::Faults => measured.faults_ns = ns,
                Thing::OwnFaults | Thing::Waits => {}
                Thing::Call(block) => {
                    measured.system.insert(block, ns);
                }
            }
        }
        Some(measured)
    }

    /// Divides times that were divided among blocks by their instructions anew. Their sum stays
    /// what it is.
    pub(super) fn divide<'a>(&self, times: impl Iterator<Item = (BlockId, &'a mut f64)>) {
        let (mut before, mut after) = (0.0, 0.0);
        let times: Vec<&mut f64> = times
            .map(|(block, ns)| {
                before += *ns;
                *ns *= self.each_ns.get(&block).unwrap_or(&self.pace_ns);
                after += *ns;
                ns
            })
            .collect();
        if after > 0.0 {
            times.into_iter().for_each(|ns| *ns *= before / after);
        }
    }

    /// How long a block took where its tasks ran, ns.
    pub(super) fn time_of(&self, block: BlockId) -> Option<f64> {
        Some(self.each_ns.get(&block)? * self.amounts.get(&block)?)
    }

    /// The part of a call of so many ns that is none of the system's, ns. All of a call that the
    /// kernel takes much of is.
    pub(super) fn beside_system(&mut self, block: BlockId, all: f64) -> f64 {
        let system = self.system.entry(block).or_default();
        if *system > 0.0 && *system >= all * OF_SYSTEM {
            *system = system.max(all);
        }
        (all - *system).max(0.0)
    }

    /// The time of the page faults of a block, ns.
    pub(super) fn faults_of(&self, block: BlockId) -> f64 {
        let faults = self.faulting.get(&block).copied().unwrap_or(0.0);
        self.faults_ns * faults / self.faults.max(1.0)
    }

    /// The blocks that access memory.
    fn code(&self, info: &StaticInfo, calls: &impl Fn(BlockId) -> bool) -> Vec<Code> {
        let code = |(block, each): (&BlockId, &f64)| {
            let own = info.block(*block).filter(|_| !calls(*block))?;
            let ops = (own.first_op..).take(own.op_count as usize).map(OpId::new);
            let mut places: Vec<Place> = ops.map(|op| Place::of_op(info, op)).collect();
            places.sort_unstable();
            places.dedup();
            let instructions = self.amounts.get(block).copied().unwrap_or(0.0);
            (!places.is_empty()).then_some(Code {
                places,
                ns: (each * instructions - self.faults_of(*block)).max(0.0),
                instructions,
            })
        };
        self.each_ns.iter().filter_map(code).collect()
    }
}

/// How functions begin that wait in the kernel and do nothing else there: those that Rust's library
/// makes its locks of, those of the runtimes of OpenMP, TBB and MPI, and the pause of a wait that
/// looks again and again.
const WAITING: [&str; 6] = ["MPI_", "__kmpc_", "futex", "omp_", "syscall", "tbb::detail::r1::"];
/// How names of functions begin that ask for memory or give it back.
const MEMORY: [&str; 13] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "mmap",
    "munmap",
    "aligned_alloc",
    "posix_memalign",
    "memalign",
    "operator new",
    "operator delete",
    "__rust_",
    "__rustc::",
];

/// Operations that wake others, and what is in the names of functions that do so by a call of the
/// system.
const WAKES: [&str; 6] = [
    "pthread_cond_broadcast",
    "pthread_cond_signal",
    "pthread_mutex_unlock",
    "pthread_rwlock_unlock",
    "pthread_spin_unlock",
    "sem_post",
];
const WAKING: [&str; 2] = ["futex_wake", "unpark"];

/// Whether the call of a block wakes others. Who waits has the processor for as long only as it
/// takes to give it away.
fn wakes(info: &StaticInfo, block: BlockId, callee: &str) -> bool {
    let named = |name: &str| WAKING.iter().any(|part| name.contains(part));
    WAKES.contains(&callee)
        || callee.starts_with("syscall")
            && info.block(block).is_some_and(|block| {
                let mut frames = info.frames(block.function, block.line, block.inlined);
                frames.any(|frame| named(frame.function))
            })
}

/// Whether time in a call of this function is told as that of waiting or of memory.
pub(super) fn has_own_time(callee: &str) -> bool {
    let mut starts = WAITING.iter().chain(&MEMORY);
    is_operation(callee) || starts.any(|start| callee.starts_with(start))
}

impl Kernel {
    /// What was measured, by what the program did.
    pub(super) fn of(
        measured: &Measured,
        info: &StaticInfo,
        calls: impl Fn(BlockId) -> bool,
    ) -> Self {
        let faulting = largest(measured.faulting.clone());
        let mut kernel = Self {
            faults: Spent {
                ns: measured.faults_ns,
                place: faulting.map(|block| Place::of_block(info, block)),
            },
            fault_count: measured.faults,
            code: measured.code(info, &calls),
            ..Self::default()
        };
        let mut most = [0.0; 3];
        for (&block, &ns) in &measured.system {
            let call = info.block(block).and_then(|block| block.call.as_ref());
            let callee = call.map_or("", |call| call.callee.as_str());
            let (at, spent) = if wakes(info, block, callee) {
                (0, &mut kernel.waking)
            } else if is_operation(callee) || WAITING.iter().any(|start| callee.starts_with(start))
            {
                // The time of another operation is in the graph, and so is that of a wait.
                continue;
            } else if MEMORY.iter().any(|start| callee.starts_with(start)) {
                (1, &mut kernel.memory)
            } else {
                (2, &mut kernel.system)
            };
            spent.ns += ns;
            if ns > most[at] {
                most[at] = ns;
                spent.place = Place::of_call(info, block).map(|call| call.0);
                if at == 2 {
                    kernel.callee = Some(callee.to_owned()).filter(|callee| !callee.is_empty());
                }
            }
        }
        kernel
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_the_kernel_takes_much_of_is_all_of_the_system() {
        let after = |system: f64, all: f64| {
            let call = BlockId::new(0);
            let mut measured =
                Measured { system: FxHashMap::from_iter([(call, system)]), ..Measured::default() };
            let beside = measured.beside_system(call, all);
            (measured.system[&call], beside)
        };
        assert_eq!(after(40.0, 90.0), (90.0, 0.0));
        assert_eq!(after(10.0, 90.0), (10.0, 80.0));
        assert_eq!(after(0.0, 90.0), (0.0, 90.0));
        assert_eq!(after(100.0, 90.0), (100.0, 0.0));
    }
}
