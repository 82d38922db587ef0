//! Makes the observation from lanes, sites and phases.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

use contech_interpose::objects::{about, executable};
use contech_observation::{Lane, Model, Module, Observation, Phase, Place, State, Times, WaitSite};

use crate::lane::{self, Reading, Ticks, halved};
use crate::options::Options;
use crate::{api, clock, lanes, openmp, phase};

/// Converts ticks to nanoseconds.
struct Scale(f64);

impl Scale {
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a measured time has fewer than 53 bits of meaning"
    )]
    fn ns(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.0) as u64
    }

    fn times(&self, ticks: &Ticks) -> Times {
        Times(ticks.map(|ticks| self.ns(ticks)))
    }
}

/// The files that addresses are in.
#[derive(Default)]
struct Modules {
    list: Vec<Module>,
    known: BTreeMap<usize, u32>,
}

impl Modules {
    fn place(&mut self, address: usize) -> Place {
        let Some(info) = about(address) else {
            return Place { module: None, offset: address as u64, symbol: String::new() };
        };
        let base = info.dli_fbase.addr();
        let next = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let module = *self.known.entry(base).or_insert(next);
        if module == next {
            // SAFETY: the linker keeps this C string.
            let path = unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy();
            self.list.push(Module { path: absolute(&path) });
        }
        let symbol = if info.dli_sname.is_null() {
            String::new()
        } else {
            // SAFETY: the linker keeps this C string too.
            unsafe { CStr::from_ptr(info.dli_sname) }.to_string_lossy().into_owned()
        };
        Place { module: Some(module), offset: (address - base) as u64, symbol }
    }
}

/// The absolute path of a module. The linker knows the program only by the name that it was called
/// by, so the path of the executable stands for names that are not absolute.
fn absolute(path: &str) -> String {
    let known = Path::new(path);
    let found = if known.is_absolute() && known.exists() { String::new() } else { executable() };
    if found.is_empty() { path.to_owned() } else { found }
}

/// Processor time in nanoseconds, and voluntary and involuntary switches, of a thread that lives.
fn living(tid: u32) -> (u64, u64, u64) {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // The kernel's number of a thread's clock (CPUCLOCK_SCHED, per thread).
    let clock = (!tid << 3 | 6).cast_signed();
    // SAFETY: the record is live; for a thread that is gone the call fails.
    let known = unsafe { libc::clock_gettime(clock, &raw mut time) } == 0;
    let ns = time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs();
    let status =
        std::fs::read_to_string(format!("/proc/self/task/{tid}/status")).unwrap_or_default();
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|n| n.trim().parse().ok()).unwrap_or(0)
    };
    (
        if known { ns } else { 0 },
        number("voluntary_ctxt_switches:"),
        number("nonvoluntary_ctxt_switches:"),
    )
}

fn lane(lane: &lane::Lane, mut reading: Reading, scale: &Scale, shift: u32) -> Lane {
    while reading.shift < shift {
        reading.bins = halved(&reading.bins);
        reading.shift += 1;
    }
    let tid = lane.tid.load(Relaxed);
    let (cpu, voluntary, involuntary) = if tid == 0 { (0, 0, 0) } else { living(tid) };
    Lane {
        threads: lane.threads.load(Relaxed),
        times: scale.times(&reading.times),
        counts: reading.counts,
        cpu_ns: lane.cpu_ns.load(Relaxed) + cpu,
        voluntary: lane.voluntary.load(Relaxed) + voluntary,
        involuntary: lane.involuntary.load(Relaxed) + involuntary,
        locks: lane.locks.load(Relaxed),
        bins: reading.bins.iter().map(|bin| scale.times(bin)).collect(),
    }
}

/// The observation of everything until now.
pub(crate) fn observation(options: &Options) -> Observation {
    let now = clock::now();
    phase::end_all(now);
    // Threads that still live go on writing: the run lasts until the last moment that is read.
    let used = lanes::all().iter().filter(|lane| lane.threads.load(Relaxed) > 0);
    let readings: Vec<_> = used.map(|lane| (lane, lane.read(now))).collect();
    let end = readings.iter().map(|(_, reading)| reading.at).max();
    let shift = readings.iter().map(|(_, reading)| reading.shift).max();
    let shift = shift.unwrap_or(lane::FIRST_SHIFT);
    let scale = Scale(clock::ns_per_tick());
    let duration = end.unwrap_or(now).saturating_sub(clock::zero());
    let lanes = readings.into_iter();
    let mut modules = Modules::default();
    let (waits, lost) = waits(&mut modules, &scale);
    Observation {
        complete: true,
        pid: std::process::id(),
        cpus: options.cpus,
        duration_ns: scale.ns(duration),
        region: clock::epoch() > 0,
        openmp: openmp::name(),
        notes: notes(lost),
        bin_ns: scale.ns(1 << shift),
        lanes: lanes.map(|(one, reading)| lane(one, reading, &scale, shift)).collect(),
        phases: phases(&mut modules, &scale),
        waits,
        modules: modules.list,
    }
}

fn waits(modules: &mut Modules, scale: &Scale) -> (Vec<WaitSite>, u64) {
    let mut sites: BTreeMap<(usize, usize), (u64, u64)> = BTreeMap::new();
    let mut lost = 0;
    for lane in lanes::all() {
        lost += lane.sites.lost();
        for (address, state, count, ticks) in lane.sites.all() {
            let site = sites.entry((address, state)).or_default();
            site.0 += count;
            site.1 += ticks;
        }
    }
    let mut waits: Vec<WaitSite> = sites
        .into_iter()
        .filter_map(|((address, state), (count, ticks))| {
            Some(WaitSite {
                place: modules.place(address),
                state: *State::ALL.get(state)?,
                count,
                ns: scale.ns(ticks),
            })
        })
        .collect();
    waits.sort_by_key(|site| std::cmp::Reverse(site.ns));
    (waits, lost)
}

fn phases(modules: &mut Modules, scale: &Scale) -> Vec<Phase> {
    let mut totals: Vec<&phase::Total> = phase::totals().collect();
    totals.sort_by_key(|total| total.first.load(Relaxed));
    let each = totals.into_iter().map(|total| {
        let (place, model) = total.place();
        let times: Ticks = std::array::from_fn(|state| total.sums.times[state].load(Relaxed));
        Phase {
            place: match model {
                Model::Marked => Place { symbol: api::name(place), ..Place::default() },
                Model::OpenMp | Model::Threads => modules.place(place),
            },
            model,
            count: total.count.load(Relaxed),
            wall_ns: scale.ns(total.wall.load(Relaxed)),
            threads: total.sums.threads.load(Relaxed),
            times: scale.times(&times),
            slowest_ns: scale.ns(total.sums.slowest.load(Relaxed)),
            first_ns: scale.ns(total.first.load(Relaxed).saturating_sub(clock::zero())),
            dynamic: total.sums.dynamic.load(Relaxed),
            pieces: total.sums.pieces.load(Relaxed),
        }
    });
    each.collect()
}

fn notes(lost_waits: u64) -> Vec<String> {
    let mut notes: Vec<String> = openmp::note().into_iter().collect();
    let mut say = |count: u64, text: &str| {
        if count > 0 {
            notes.push(format!("{count} {text}"));
        }
    };
    say(lanes::turned_away(), "threads were not observed: more than 1024 lived at the same time");
    say(lost_waits, "waits are in no place: a thread waited at more than 256");
    say(
        phase::lost(),
        "phases are not listed: they began at more than 1024 places, or more than 64 went on at the same time",
    );
    notes
}
