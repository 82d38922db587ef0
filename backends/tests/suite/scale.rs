//! The command `contech scale` with scripts for measured programs that leave ready observations,
//! and with measurements from files.

use std::fs;
use std::process::Output;
use std::time::Duration;

use crate::folder::{Folder, err, out};
use contech_observation::{Lane, Observation, Phase, Place, Run, State, Times};

/// A run with `threads` threads of 200 ms of serial code and 800 ms of work in a parallel phase.
pub(crate) fn observation(threads: u64) -> Observation {
    const MS: u64 = 1_000_000;
    let mut times = Times::default();
    times.0[State::Running as usize] = 800 * MS;
    let phase = Phase {
        place: Place { module: None, offset: 64, symbol: "sweep".to_owned() },
        count: 1,
        wall_ns: 800 * MS / threads,
        threads: u32::try_from(threads).unwrap(),
        times,
        slowest_ns: 800 * MS / threads,
        ..Phase::default()
    };
    let mut bin = Times::default();
    (bin.0[State::Running as usize], bin.0[State::Barrier as usize]) = (MS * 7 / 10, MS * 3 / 10);
    let lane = |at| {
        let serial = if at == 0 { 200 * MS } else { 0 };
        let mut times = Times::default();
        times.0[State::Running as usize] = 800 * MS / threads + serial;
        Lane { threads: 1, bins: vec![bin; 1000], times }
    };
    let lanes: Vec<Lane> = (0..threads).map(lane).collect();
    let mut times = Times::default();
    lanes.iter().for_each(|lane| times.add(&lane.times));
    let run = Run {
        t_ns: (200 + 800 / threads) * MS,
        cpu_ns: times.total(),
        lanes: phase.threads,
        times,
        phases: vec![phase],
        ..Run::default()
    };
    Observation { complete: true, bin_ns: MS, lanes, run, ..Observation::default() }
}

/// What an observed program does at its end, in shell.
const OBSERVE: &str = "cp \"$(dirname \"$0\")/observation.$OMP_NUM_THREADS\" \"$CONTECH_OBSERVE\"";

/// With an observer in name only: the scripts do its work.
fn installed() -> Folder {
    let folder = Folder::installed();
    fs::write(folder.path("libcontech_observe.so"), "").unwrap();
    for threads in [1, 2, 4] {
        observed(&folder, threads, &observation(threads));
    }
    folder
}

/// Writes what is observed of a run with so many threads.
fn observed(folder: &Folder, threads: u64, observation: &Observation) {
    let bytes = serde_json::to_vec(observation).unwrap();
    fs::write(folder.path(&format!("observation.{threads}")), bytes).unwrap();
}

fn scale_by(folder: &Folder, words: &[&str]) -> Output {
    folder.contech("scale").args(words).env_remove("LD_PRELOAD").output().unwrap()
}

fn scale(folder: &Folder, line: &str) -> Output {
    scale_by(folder, &line.split_whitespace().collect::<Vec<_>>())
}

/// The same for what succeeds.
fn scaled(folder: &Folder, line: &str) -> Output {
    let output = scale(folder, line);
    assert!(output.status.success(), "{}", err(&output));
    output
}

/// A program of `body` is refused, for a reason with all of `words` in it.
fn refused(folder: &Folder, body: &str, options: &str, words: &[&str]) {
    folder.script("prog", body);
    let output = scale(folder, &format!("{options} --repeat 1 -- ./prog {{threads}}"));
    let said = err(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(output.stdout.is_empty(), "no number is printed: {output:?}");
    for word in words {
        assert!(said.contains(word), "{word} is not in: {said}");
    }
}

#[test]
fn the_serial_part_is_named_first_with_its_share() {
    let folder = installed();
    folder.script("prog", OBSERVE);
    let output = scaled(&folder, "--threads 1,2 --repeat 2 --format json -- ./prog");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["findings"][0]["cause"], "serialization");
    // 200 ms of one processor in 2 times 600 ms.
    let share = report["findings"][0]["share"].as_f64().unwrap();
    assert!((share - 200.0 / 1200.0).abs() < 1e-9);
    assert_eq!(report["points"][1]["threads"], 2);
    assert_eq!(report["points"][1]["t"], 0.6);
    assert_eq!(report["points"][1]["runs"], 2);
}

#[test]
fn a_baseline_and_an_elision_are_measured_beside() {
    let folder = installed();
    folder.script("prog", OBSERVE);
    folder.script("seq", OBSERVE);
    let line = "--threads 1,2 --repeat 1 --elision ./seq --format csv -- ./prog {threads}";
    let words = line.split(' ');
    let words: Vec<&str> = ["--baseline", "./seq 'a b'"].into_iter().chain(words).collect();
    let output = scale_by(&folder, &words);
    assert!(output.status.success(), "{}", err(&output));
    let text = out(&output);
    assert!(
        text.starts_with("threads,t_ns,t_spread,linear,maximal,idle,inflation,actual,elision\n"),
        "{text}"
    );
    assert!(text.contains("\n2,600000000,0,2,2,"), "{text}");
}

#[test]
fn a_measurement_can_be_kept_and_analysed_again() {
    let folder = installed();
    folder.script("prog", OBSERVE);
    let first = scaled(&folder, "--repeat 1 --save kept.json --report page.html -- ./prog");
    let again = scale(&folder, "--from kept.json");
    assert_eq!(out(&first), out(&again));
    let page = fs::read_to_string(folder.path("page.html")).unwrap();
    assert!(page.contains("Contech scale: ./prog"));
    let text = out(&again);
    assert!(text.contains("Why it does not scale (2 threads)"), "{text}");
}

#[test]
fn commands_that_are_no_measurement_are_refused_with_advice() {
    let folder = installed();
    refused(
        &folder,
        "echo broken >&2; exit 7",
        "",
        &["./prog 1 exited with status 7", "unless --status 7 says that all is well", "broken"],
    );
    refused(&folder, &format!("{OBSERVE}; exit 1"), "--status 7", &["exited with status 1"]);
    refused(&folder, OBSERVE, "--status 7", &["exited with status 0"]);
    refused(&folder, "kill -SEGV $$", "", &["was ended by signal 11"]);
    refused(
        &folder,
        &format!("{OBSERVE}; echo $1"),
        "",
        &["print different things", "Line 1 is", "--ignore-output"],
    );
    refused(&folder, "true", "", &["nothing was observed", "statically linked"]);
    for nonsense in ["echo nonsense", ":"] {
        let body = format!("{nonsense} > \"$CONTECH_OBSERVE\"");
        refused(&folder, &body, "", &["damaged, or of another build"]);
    }
    refused(&folder, "sleep 20", "--timeout 200ms", &["took longer than 200ms", "--timeout"]);
    let mut short = observation(1);
    short.run.t_ns = 10_000_000;
    observed(&folder, 1, &short);
    refused(&folder, OBSERVE, "", &["took 10.0 ms: too short to be measured", "larger input"]);
    observed(&folder, 1, &Observation { complete: false, ..observation(1) });
    refused(&folder, OBSERVE, "", &["did not see its end"]);
}

#[test]
fn a_status_of_its_own_and_output_that_differs_may_be_allowed() {
    let folder = installed();
    for (end, allowed) in [("exit 7", "--status 7"), ("echo $1", "--ignore-output")] {
        folder.script("prog", &format!("{OBSERVE}; {end}"));
        scaled(&folder, &format!("{allowed} --repeat 1 -- ./prog {{threads}}"));
    }
}

#[test]
fn a_process_the_program_leaves_behind_is_not_waited_for() {
    let folder = installed();
    fs::write(folder.path("alive"), "").unwrap();
    folder.script(
        "prog",
        &format!("(while [ -e alive ]; do sleep 0.1; done) &\n{OBSERVE}; echo said"),
    );
    scaled(&folder, "--repeat 1 -- ./prog");
    fs::remove_file(folder.path("alive")).unwrap();
}

#[test]
fn a_program_that_takes_too_long_is_ended_with_the_processes_it_started() {
    let folder = installed();
    refused(
        &folder,
        "sleep 1000 & echo $! > child; trap '' TERM INT; sleep 1000",
        "--timeout 200ms",
        &["took longer than 200ms"],
    );
    let child = fs::read_to_string(folder.path("child")).unwrap();
    let lives = || {
        // Whoever adopted it may not have looked after it yet: then it is a zombie.
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
        let state = stat.rsplit_once(") ").map(|(_, rest)| &rest[..1]);
        !matches!(state, None | Some("Z" | "X"))
    };
    // The signal has been sent; that it arrives is up to the system.
    for _ in 0..1000 {
        if !lives() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("process {} lives on", child.trim());
}

#[test]
fn options_that_make_no_sense_say_what_was_expected() {
    let folder = installed();
    folder.script("prog", OBSERVE);
    for (words, expected) in [
        (&["--threads", "0", "--", "./prog"][..], "1..=4096"),
        (&["--threads", "1", "--", "./prog"], "several numbers"),
        (&["--threads", "1,two", "--", "./prog"], "invalid digit"),
        (&["--baseline", "", "--", "./prog"], "--baseline is empty"),
        (&["--baseline", "./a 'b", "--", "./prog"], "a quote does not close"),
        (&["--min-time", "5", "--", "./prog"], "5 is no duration"),
        (&["--", "./missing"], "cannot start ./missing"),
        (&[], "PROGRAM"),
        (&["--from", "missing.json"], "missing.json"),
    ] {
        let output = scale_by(&folder, words);
        assert!(!output.status.success());
        assert!(err(&output).contains(expected), "{expected} is not in: {}", err(&output));
    }
}

#[test]
fn files_that_are_no_measurement_are_named() {
    let folder = installed();
    for (content, expected) in [
        ("", "is empty"),
        ("{}", "is no measurement"),
        ("{\"command\":[],\"cpus\":2,\"points\":[]}", "has no runs"),
        (
            "{\"command\":[],\"cpus\":2,\"points\":[{\"threads\":0,\"runs\":[{\"t_ns\":1}]}]}",
            "from 1 on",
        ),
    ] {
        fs::write(folder.path("bad.json"), content).unwrap();
        let output = scale(&folder, "--from bad.json");
        assert_eq!(output.status.code(), Some(1));
        let said = err(&output);
        assert!(said.contains("bad.json") && said.contains(expected), "{said}");
    }
}

#[test]
fn more_threads_than_processors_are_labelled() {
    let folder = installed();
    folder.script("prog", OBSERVE);
    scaled(&folder, "--repeat 1 --save kept.json --threads 1,2,4 -- ./prog");
    let kept = fs::read_to_string(folder.path("kept.json")).unwrap();
    // Whatever machine this is: as if it had two processors.
    let mut kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    kept["cpus"] = 2.into();
    fs::write(folder.path("two.json"), kept.to_string()).unwrap();
    let text = out(&scale(&folder, "--from two.json"));
    assert!(text.contains("More threads than the 2 processors"), "{text}");
    assert!(text.contains("Why it does not scale (2 threads)"), "{text}");
}
