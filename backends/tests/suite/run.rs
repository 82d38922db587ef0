//! The command `contech run` with a stand-in for the converter and scripts for recorded programs.

use std::fs;
use std::path::Path;
use std::process::Output;

use taskgraph::{AccessesOf, Unrecorded};

use crate::folder::{Folder, err, out};
use crate::samples::{two, write};

/// With this script for `contech-middle`.
fn with(middle: &str) -> Folder {
    let folder = Folder::installed();
    folder.script("contech-middle", middle);
    folder
}

/// "Converts" by copying a ready graph.
const CONVERT: &str = "here=$(dirname \"$0\"); cp \"$here/two.tg\" \"$2\"";

/// With a converter that works, and leaves a copy of the trace it was given in `seen`.
fn working() -> Folder {
    with(&format!("{CONVERT}; cp \"$1\" \"$here/seen\"; echo summary"))
}

/// `contech run LINE` in the folder.
fn run(here: &Folder, line: &str) -> Output {
    let mut command = here.contech(&format!("run {line}"));
    command.env_remove("CONTECH_HOME").env_remove("CONTECH_OFF").output().unwrap()
}

/// What an instrumented program does at its end, in shell.
const RECORD: &str = "echo trace > \"$(echo \"$CONTECH_TRACE\" | sed s/%p/$$/)\"";

#[test]
fn a_run_ends_in_a_summary_a_graph_and_a_report() {
    let here = working();
    here.script("prog", &format!("echo \"out $1\"; echo problem >&2; {RECORD}; exit 7"));
    let output = run(&here, "-- ./prog --flag");
    assert_eq!(output.status.code(), Some(7), "the program's own status: {output:?}");
    assert_eq!(output.stdout, b"out --flag\n", "nothing but the program's output");
    let err = err(&output);
    for part in [
        "problem\n",
        "./prog exited with status 7",
        "2 contexts, ",
        "2 processors for 800 us: ",
        "imbalance, waited for in work (two.c:44)",
        "contech-out/report.html",
        "contech-out/graph.tg",
    ] {
        assert!(err.contains(part), "{part} is missing in\n{err}");
    }
    let page = fs::read_to_string(here.path("contech-out/report.html")).unwrap();
    assert!(page.contains("id=\"timeline\""));
    assert_eq!(fs::read(here.path("seen")).unwrap(), b"trace\n");
    assert!(!here.path("contech-out/trace.bin").exists(), "the trace is removed");
}

#[test]
fn traces_are_kept_on_request_and_other_processes_are_mentioned() {
    let here = working();
    here.script("prog", &format!("(sh -c '{RECORD}'); {RECORD}"));
    fs::create_dir(here.path("results")).unwrap();
    fs::write(here.path("results/trace.99.bin"), "of an earlier run").unwrap();
    let output = run(&here, "-o results --keep-trace ./prog");
    assert!(output.status.success(), "{output:?}");
    assert!(here.path("results/trace.bin").is_file());
    assert!(!here.path("results/trace.99.bin").exists());
    let others: Vec<_> = fs::read_dir(here.path("results"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("trace.") && name != "trace.bin")
        .collect();
    assert_eq!(others.len(), 1, "{others:?}");
    let mention = format!("another process left results/{}", others[0]);
    assert!(err(&output).contains(&mention), "{output:?}");
}

#[test]
fn there_is_a_report_however_a_program_begins_and_ends_and_of_a_recovered_graph() {
    let killed = format!("{RECORD}; kill -TERM $$");
    for (program, converted, status, said) in [
        // A script that starts the program.
        ("./recorded; true", 0, 0, "finished"),
        (&killed, 0, 128 + 15, "was ended by signal 15"),
        (RECORD, 3, 0, "finished"),
    ] {
        let here = with(&format!("{CONVERT}; exit {converted}"));
        here.script("recorded", RECORD);
        here.script("prog", program);
        let output = run(&here, "-- ./prog");
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        assert!(err(&output).contains(said), "{output:?}");
        assert!(here.path("contech-out/report.html").is_file());
    }
}

/// What a run leaves that a signal ends: the trace and no page.
fn is_kept(here: &Folder, output: &Output, signal: i32) {
    let err = err(output);
    assert_eq!(output.status.code(), Some(128 + signal), "{err}");
    let how = match signal {
        2 => "interrupted".to_owned(),
        other => format!("ended by signal {other}"),
    };
    let kept = format!("contech: {how}; the trace is kept: contech graph contech-out/trace.bin");
    assert!(err.contains(&kept), "{err}");
    assert!(here.path("contech-out/trace.bin").is_file());
    assert!(!here.path("contech-out/report.html").exists());
}

#[test]
fn ctrl_c_of_the_program_ends_the_run() {
    let here = with("exit 0");
    here.script("prog", &format!("{RECORD}; kill -INT $$"));
    is_kept(&here, &run(&here, "-- ./prog"), 2);
}

#[test]
fn a_signal_ends_what_runs_for_it_and_keeps_what_was_recorded() {
    let sleeps = "exec sleep 60";
    let goes_on = "trap '' TERM; while kill -TERM $PPID; do sleep 0.1; done";
    for (number, name, program, converter) in [
        (15, "TERM", sleeps, ""),
        (1, "HUP", sleeps, ""),
        (15, "TERM", "", sleeps),
        (1, "HUP", "", sleeps),
        (2, "INT", "", sleeps),
        // Who goes on is asked once.
        (15, "TERM", goes_on, ""),
        (15, "TERM", "", goes_on),
    ] {
        let here = |what: &str| match what {
            "" => String::new(),
            what => format!("echo $$ > pid; kill -{name} $PPID; {what}"),
        };
        let installed = with(&here(converter));
        installed.script("prog", &format!("{RECORD}; {}", here(program)));
        is_kept(&installed, &run(&installed, "-- ./prog"), number);
        let number = fs::read_to_string(installed.path("pid")).expect("it has begun");
        assert!(!Path::new("/proc").join(number.trim()).exists(), "{name}");
    }
}

/// The page is made after the answer is told: without a place for it, the answer is there all the
/// same.
#[test]
fn the_answer_comes_before_the_page() {
    let here = working();
    here.script("prog", RECORD);
    let old = here.path("contech-out/report.html");
    here.script("contech-middle", &format!("{CONVERT}; mkdir contech-out/report.html"));
    fs::create_dir(here.path("contech-out")).unwrap();
    fs::write(&old, "of an earlier run").unwrap();
    let output = run(&here, "-- ./prog");
    let said = err(&output);
    let answer = said.find("2 processors for 800 us: ").expect("the answer");
    let failed = said.find("cannot write contech-out/report.html");
    assert!(failed.is_some_and(|failed| failed > answer), "{said}");
    assert!(old.is_dir(), "the old page was removed before the run");
    assert!(!here.path("contech-out/trace.bin").exists());
}

#[test]
fn a_strict_run_says_by_its_status_that_something_is_missing() {
    let limited = Some(Unrecorded { of: AccessesOf::Limit, since_ns: Some(1000) });
    for (complete, unrecorded, ends, status) in
        [(true, None, 0, 0), (true, limited, 0, 4), (false, limited, 0, 3), (true, limited, 7, 7)]
    {
        let here = working();
        let mut graph = two();
        graph.meta_mut().complete = complete;
        graph.meta_mut().unrecorded = unrecorded;
        write(graph, &here.path("two.tg"));
        here.script("prog", &format!("{RECORD}; exit {ends}"));
        let strict = run(&here, "--strict -- ./prog");
        assert_eq!(strict.status.code(), Some(status), "{strict:?}");
        assert_eq!(run(&here, "-- ./prog").status.code(), Some(ends));
    }
}

#[test]
fn repeats_agree_and_differ_by_nothing() {
    let here = working();
    here.script("prog", RECORD);
    let output = run(&here, "--repeat 3 -o results -- ./prog");
    assert!(output.status.success(), "{output:?}");
    let said = err(&output);
    assert!(said.contains("contech: 3 runs took ") && said.contains("First in 3: "), "{said}");
    let left = fs::read_dir(here.path("results")).unwrap();
    let mut left: Vec<_> = left.map(|file| file.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["graph.2.tg", "graph.3.tg", "graph.tg", "report.html"]);
    let page = fs::read_to_string(here.path("results/report.html")).unwrap();
    assert!(page.contains(" in 3 runs)"), "no range of gains on the page");
    let said = out(&here.contech("diff results results").output().unwrap());
    assert!(said.contains("differ by nothing that repeats of one of them would not"), "{said}");
}

#[test]
fn a_reader_of_the_messages_who_has_seen_enough_ends_nothing() {
    let here = working();
    here.script("prog", &format!("{RECORD}; exit 7"));
    // As in `contech run -- ./prog 2>&1 | head` once head has ended.
    for (line, least, most) in [
        ("run -- ./prog", 7, 7),
        ("--help", 0, 0),
        ("run --help", 0, 0),
        ("analyse stats two.tg", 0, 0),
        ("analyse no-such", 1, 2),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = here.contech(line);
        command.stderr(writer.try_clone().unwrap()).stdout(writer);
        let code = command.status().unwrap().code();
        assert!(code.is_some_and(|code| (least..=most).contains(&code)), "{line}: {code:?}");
    }
    assert!(here.path("contech-out/report.html").is_file());
}

#[test]
fn what_went_wrong_is_said() {
    let here = working();
    here.script("plain", "exit 0");
    fs::write(here.path("data"), "").unwrap();
    for (line, reason) in [
        ("-- ./nowhere", "cannot start ./nowhere: no such file"),
        ("-- no-such-program-in-path", "write ./no-such-program-in-path"),
        ("-- ./data", "not executable"),
        ("-- ./plain", "build it with contech-cc"),
        ("-o data -- ./plain", "cannot make the folder data"),
    ] {
        let output = run(&here, line);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(err(&output).contains(reason), "{output:?}");
    }
}

#[test]
fn a_converter_that_fails_or_is_missing_leaves_the_trace() {
    let here = with("echo broken >&2; exit 1");
    here.script("prog", RECORD);
    let output = run(&here, "-- ./prog");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        err(&output).contains("broken\n") && err(&output).contains("the trace is kept"),
        "{output:?}"
    );
    assert!(here.path("contech-out/trace.bin").is_file());
    fs::remove_file(here.path("contech-middle")).unwrap();
    let output = run(&here, "-- ./prog");
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("contech-middle is missing"), "{output:?}");
}

/// What the account of a run is at a width, without the program's own words.
fn told(here: &Folder, columns: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let mut command = here.contech("run -- ./prog");
    let output = command.env("COLUMNS", columns).envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    err(&output).lines().map(str::to_owned).collect()
}

#[test]
fn the_account_of_a_run_is_about_a_screen_at_any_width() {
    let here = working();
    here.script("prog", RECORD);
    let words = |lines: &[String]| {
        let text = lines.join(" ");
        let words = text.split_whitespace();
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let wide = told(&here, "300", &[]);
    for (columns, most) in [("40", 30), ("80", 15), ("100", 15)] {
        let lines = told(&here, columns, &[]);
        assert!(lines.len() <= most, "{columns}: {lines:#?}");
        let columns: usize = columns.parse().unwrap();
        let fits = |line: &String| line.chars().count() <= columns;
        assert!(lines.iter().all(fits), "{columns}: {lines:#?}");
        // Where all is said, the words are the same.
        if lines.iter().all(|line| !line.contains("more finding")) {
            assert_eq!(words(&lines), words(&wide));
        }
    }
    assert!(wide.iter().all(|line| !line.contains('\u{1b}')), "{wide:?}");
    let coloured = told(&here, "80", &[("CLICOLOR_FORCE", "1")]);
    assert!(coloured[0].starts_with("\u{1b}[2mcontech: \u{1b}[0m./prog"), "{coloured:?}");
    let refused = told(&here, "80", &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]);
    assert!(refused.iter().all(|line| !line.contains('\u{1b}')), "{refused:?}");
}

/// Writes what the recorder would read, beside a trace.
const VARIABLES: &str = "env | grep ^CONTECH_ | grep -v TRACE | sort > variables";

#[test]
fn flags_reach_the_recorder() {
    let flags =
        "--sample 1/10 --limit 4G --roi time:2s-3s --buffer 64K --memory 50% --stats s.json";
    let expected = "CONTECH_BUFFER=64K\nCONTECH_LIMIT=4G\nCONTECH_MEMORY=50%\nCONTECH_ROI=time:2s-3s\nCONTECH_SAMPLE=1/10\nCONTECH_STATS=s.json\n";
    let here = working();
    here.script("prog", &format!("{VARIABLES}; {RECORD}"));
    for command in ["run", "record"] {
        let contech = |flags: &str| here.contech(&format!("{command} {flags} -- ./prog"));
        let given = || fs::read_to_string(here.path("variables")).unwrap();
        let output = contech(flags).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(given(), expected, "{command}");
        // Marks are what the variable calls 1, and a flag wins over its variable.
        let output = contech("--roi marks --sample 1/2").env("CONTECH_SAMPLE", "1/9").output();
        assert!(output.unwrap().status.success());
        assert_eq!(given(), "CONTECH_ROI=1\nCONTECH_SAMPLE=1/2\n", "{command}");
    }
}

#[test]
fn a_recording_keeps_its_trace_and_has_the_status_of_the_program() {
    let here = working();
    here.script("prog", &format!("echo out; {RECORD}; exit 7"));
    here.script("plain", "exit 0");
    let record = |line: &str| here.contech(line).output().unwrap();
    let output = record("record -o a.bin -- ./prog");
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert_eq!(output.stdout, b"out\n");
    assert!(err(&output).contains("contech graph a.bin makes its graph"), "{output:?}");
    assert_eq!(fs::read(here.path("a.bin")).unwrap(), b"trace\n");
    // The trace of an earlier run is not taken for one of this one.
    let output = record("record -o a.bin -- ./plain");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(err(&output).contains("build it with contech-cc"), "{output:?}");
}

#[test]
fn each_command_of_the_front_door_is_the_one_of_the_tools() {
    let here = with("echo \"middle $*\"");
    let contech = |line: &str| {
        let output = here.contech(line).output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        out(&output)
    };
    assert_eq!(contech("graph t.bin --json --help"), "middle t.bin --json --help\n");
    for words in
        [["time", "account"], ["path", "critpath"], ["coherence", "sharing"], ["heap", "memuse"]]
    {
        let [new, old] = words.map(|word| contech(&format!("analyse {word} two.tg")));
        assert_eq!(new, old);
        assert!(!new.is_empty());
    }
    assert!(contech("analyse stats two.tg --format json").starts_with('{'));
    assert!(contech("analyze races two.tg --format json").starts_with('{'));
    assert!(contech("debug dump two.tg --tasks").contains("create"));
    assert!(contech("report two.tg").starts_with("<!doctype html>"));
    contech("diff two.tg two.tg");
    assert!(contech("export --folded - two.tg").contains("main;"));
}
