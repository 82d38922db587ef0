//! Makes the observation from lanes, sites and phases.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

use contech_interpose::clock::{nanoseconds, scaled};
use contech_interpose::objects::{about, executable};
use contech_observation::{Lane, Model, Observation, Phase, Place, Run, State, Times, Wait};

use crate::phase::Phases;
use crate::{clock, lanes, openmp, phase};

/// Converts ticks to nanoseconds.
struct Scale(f64);

impl Scale {
    fn ns(&self, ticks: u64) -> u64 {
        scaled(ticks, self.0)
    }

    fn times(&self, ticks: &Times) -> Times {
        Times(ticks.0.map(|ticks| self.ns(ticks)))
    }
}

/// The files that addresses are in.
#[derive(Default)]
struct Modules {
    paths: Vec<String>,
    known: BTreeMap<usize, u32>,
}

impl Modules {
    fn place(&mut self, address: usize) -> Place {
        let Some(info) = about(address) else {
            return Place { module: None, offset: address as u64, symbol: String::new() };
        };
        // SAFETY: the linker keeps its C strings.
        let text = |at| unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned();
        let base = info.dli_fbase.addr();
        let next = u32::try_from(self.paths.len()).unwrap_or(u32::MAX);
        let module = *self.known.entry(base).or_insert(next);
        if module == next {
            self.paths.push(absolute(text(info.dli_fname)));
        }
        let symbol = if info.dli_sname.is_null() { String::new() } else { text(info.dli_sname) };
        Place { module: Some(module), offset: (address - base) as u64, symbol }
    }
}

/// The absolute path of a module. The linker knows the program only by the name that it was called
/// by, so the path of the executable stands for names that are not absolute.
fn absolute(path: String) -> String {
    let known = Path::new(&path);
    let found = if known.is_absolute() && known.exists() { String::new() } else { executable() };
    if found.is_empty() { path } else { found }
}

/// The observation of everything until now.
pub(crate) fn observation() -> Observation {
    let now = clock::now();
    let phases = phase::end_all(now);
    let used = || lanes::all().iter().filter(|lane| lane.threads.load(Relaxed) > 0);
    // Threads that still live go on writing: the run lasts until the last moment that is read.
    let read: Vec<_> = used().filter_map(|lane| Some((lane, lane.read(now)?))).collect();
    let end = read.iter().map(|(_, read)| read.since()).fold(now, u64::max);
    let shift = read.iter().map(|(_, read)| read.shift()).max().unwrap_or(0);
    let scale = Scale(clock::ns_per_tick());
    let lane = |(lane, read): &(&crate::lane::Lane, &crate::lane::Lane)| {
        let (times, bins) = read.line(shift);
        Lane {
            threads: lane.threads.load(Relaxed),
            times: scale.times(&times),
            bins: bins.iter().map(|bin| scale.times(bin)).collect(),
        }
    };
    let lanes: Vec<Lane> = read.iter().map(lane).collect();
    let mut times = Times::default();
    lanes.iter().for_each(|lane| times.add(&lane.times));
    let mut modules = Modules::default();
    let (waits, lost) = waits(&mut modules, &scale);
    let run = Run {
        t_ns: scale.ns(end.saturating_sub(clock::zero())),
        cpu_ns: nanoseconds(libc::CLOCK_PROCESS_CPUTIME_ID),
        locks: used().map(|lane| lane.locks.load(Relaxed)).sum(),
        lanes: u32::try_from(lanes.len()).unwrap_or(u32::MAX),
        times,
        phases: phases
            .as_deref()
            .map_or_else(Vec::new, |all| self::phases(all, &mut modules, &scale)),
        waits,
    };
    Observation {
        complete: phases.is_some(),
        region: clock::epoch() > 0,
        openmp: openmp::name(),
        notes: notes(lost, phases.map_or(0, |phases| phases.lost)),
        bin_ns: scale.ns(1 << shift),
        lanes,
        run,
        modules: modules.paths,
    }
}

fn waits(modules: &mut Modules, scale: &Scale) -> (Vec<Wait<Place>>, u64) {
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
    let mut waits: Vec<_> = sites
        .into_iter()
        .filter_map(|((address, state), (count, ticks))| {
            let state = *State::ALL.get(state)?;
            Some(Wait { place: modules.place(address), state, count, ns: scale.ns(ticks) })
        })
        .collect();
    waits.sort_by_key(|site| std::cmp::Reverse(site.ns));
    (waits, lost)
}

fn phases(all: &Phases, modules: &mut Modules, scale: &Scale) -> Vec<Phase<Place>> {
    let counted = all.places.iter().filter(|phase| phase.count > 0);
    let phases = counted.map(|phase| Phase {
        place: match phase.model {
            Model::Marked => Place { symbol: all.name(phase.place), ..Place::default() },
            Model::OpenMp | Model::Threads => modules.place(phase.place),
        },
        model: phase.model,
        count: phase.count,
        wall_ns: scale.ns(phase.wall_ns),
        threads: phase.threads,
        times: scale.times(&phase.times),
        slowest_ns: scale.ns(phase.slowest_ns),
        dynamic: phase.dynamic,
        pieces: phase.pieces,
    });
    phases.collect()
}

fn notes(lost_waits: u64, lost_phases: u64) -> Vec<String> {
    let mut notes: Vec<String> = openmp::note().into_iter().collect();
    let mut say = |count: u64, text: &str| {
        if count > 0 {
            notes.push(format!("{count} {text}"));
        }
    };
    say(
        lanes::TURNED_AWAY.load(Relaxed),
        "threads were not observed: more than 1024 lived at the same time",
    );
    say(lost_waits, "waits are in no place: a thread waited at more than 256");
    say(lost_phases, "phases are not listed: more than 64 went on at the same time");
    notes
}
