//! Shows an observation: `cargo run -p contech-observation --example observation FILE`.

use contech_observation::{Observation, State};

fn main() {
    let path = std::env::args().nth(1).unwrap_or_default();
    let bytes = std::fs::read(&path).unwrap_or_default();
    let observation = match Observation::decode(&bytes) {
        Ok(observation) => observation,
        Err(error) => {
            eprintln!("{path}: {error}");
            std::process::exit(1);
        }
    };
    println!(
        "duration {} ns, {}",
        observation.duration_ns, observation.openmp
    );
    println!(
        "region {}, bins of {} ns",
        observation.region, observation.bin_ns
    );
    for (index, lane) in observation.lanes.iter().enumerate() {
        print!(
            "lane {index}: {} threads, cpu {}",
            lane.threads, lane.cpu_ns
        );
        show(&lane.times);
    }
    for phase in &observation.phases {
        let (place, model) = (&phase.place, phase.model);
        print!(
            "phase {model:?} {}+{:#x} x{}",
            place.symbol, place.offset, phase.count
        );
        print!(" wall {} slowest {}", phase.wall_ns, phase.slowest_ns);
        print!(" threads {} dynamic {}", phase.threads, phase.dynamic);
        show(&phase.times);
    }
    for site in &observation.waits {
        let (place, state) = (&site.place, site.state.name());
        println!(
            "{state} {}+{:#x}: {} times, {} ns",
            place.symbol, place.offset, site.count, site.ns
        );
    }
    observation.notes.iter().for_each(|note| println!("{note}"));
}

fn show(times: &contech_observation::Times) {
    for state in State::ALL.into_iter().filter(|state| times.of(*state) > 0) {
        print!(", {} {}", state.name(), times.of(state));
    }
    println!();
}
