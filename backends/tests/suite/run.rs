//! The command `contech run` with a stand-in for the converter and scripts for recorded programs.

use std::fs;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use taskgraph::{AccessesOf, Unrecorded};

use crate::installed::Folder;
use crate::samples::{two, write};

/// Installed commands: `contech` itself, and a `contech-middle` that "converts" by copying a ready graph.
struct Installed(Folder);

impl Installed {
    fn new(middle: &str) -> Self {
        let folder = Self(Folder::new());
        write(two(), &folder.path("ready.tg"));
        folder.script("contech-middle", middle);
        folder
    }

    /// With a converter that works, and leaves a copy of the trace it was given in `seen`.
    fn working() -> Self {
        Self::new(
            "here=$(dirname \"$0\"); cp \"$1\" \"$here/seen\"; cp \"$here/ready.tg\" \"$2\"; echo summary",
        )
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn script(&self, name: &str, body: &str) {
        self.0.script(name, body);
    }

    /// `contech run -- WORDS` in the folder.
    fn run(&self, words: &[&str]) -> Output {
        let mut command = self.0.contech("run");
        command.env_remove("CONTECH_HOME").env_remove("CONTECH_OFF");
        command.args(words).output().unwrap()
    }
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What an instrumented program does at its end, in shell.
const RECORD: &str = "echo trace > \"$(echo \"$CONTECH_TRACE\" | sed s/%p/$$/)\"";

#[test]
fn a_run_ends_in_a_summary_a_graph_and_a_report() {
    let here = Installed::working();
    here.script(
        "prog",
        &format!("echo \"out $1\"; echo problem >&2; {RECORD}; exit 7"),
    );
    let output = here.run(&["--", "./prog", "--flag"]);
    assert_eq!(
        output.status.code(),
        Some(7),
        "the program's own status: {output:?}"
    );
    assert_eq!(
        output.stdout, b"out --flag\n",
        "nothing but the program's output"
    );
    let err = err(&output);
    for part in [
        "problem\n",
        "./prog exited with status 7",
        "2 contexts over 800 us",
        "2 processors for 800 us: ",
        "imbalance, waited for in work (two.c:44)",
        "contech-out/report.html",
        "contech-out/graph.tg",
    ] {
        assert!(err.contains(part), "{part} is missing in\n{err}");
    }
    assert!(
        fs::read_to_string(here.path("contech-out/report.html"))
            .unwrap()
            .contains("id=\"timeline\"")
    );
    assert_eq!(fs::read(here.path("seen")).unwrap(), b"trace\n");
    assert!(
        !here.path("contech-out/trace.bin").exists(),
        "the trace is removed"
    );
}

#[test]
fn traces_are_kept_on_request_and_other_processes_are_mentioned() {
    let here = Installed::working();
    here.script("prog", &format!("(sh -c '{RECORD}'); {RECORD}"));
    fs::create_dir(here.path("results")).unwrap();
    fs::write(here.path("results/trace.99.bin"), "of an earlier run").unwrap();
    let output = here.run(&["-o", "results", "--keep-trace", "./prog"]);
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
fn a_script_that_starts_the_program_is_fine() {
    let here = Installed::working();
    here.script("prog", RECORD);
    here.script("wrapper", "./prog; true");
    let output = here.run(&["--", "./wrapper"]);
    assert!(output.status.success(), "{output:?}");
    assert!(here.path("contech-out/report.html").is_file());
}

#[test]
fn a_program_that_is_killed_is_reported_all_the_same() {
    let here = Installed::working();
    here.script("prog", &format!("{RECORD}; kill -TERM $$"));
    let output = here.run(&["--", "./prog"]);
    assert_eq!(output.status.code(), Some(128 + 15), "{output:?}");
    assert!(
        err(&output).contains("was ended by signal 15"),
        "{output:?}"
    );
    assert!(here.path("contech-out/report.html").is_file());
}

#[test]
fn ctrl_c_ends_the_run_at_once_and_keeps_what_was_recorded() {
    let interrupted_program = format!("{RECORD}; kill -INT $$");
    // The second converter is interrupted with `contech`, whose child it is.
    for (program, converter) in [
        (interrupted_program.as_str(), "exit 0"),
        (RECORD, "kill -INT $PPID; exec sleep 20"),
    ] {
        let here = Installed::new(converter);
        here.script("prog", program);
        let output = here.run(&["--", "./prog"]);
        assert_eq!(output.status.code(), Some(130), "{output:?}");
        let err = err(&output);
        let kept = "contech: interrupted; the trace is kept: contech-middle contech-out/trace.bin";
        assert!(err.contains(kept), "{err}");
        assert!(here.path("contech-out/trace.bin").is_file());
        assert!(!here.path("contech-out/report.html").exists());
    }
}

/// Whether the process that wrote its number to a file is there.
fn is_running(here: &Installed, file: &str) -> bool {
    let number = fs::read_to_string(here.path(file)).expect("it has begun");
    std::path::Path::new(&format!("/proc/{}", number.trim())).exists()
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
        let installed = Installed::new(&here(converter));
        installed.script("prog", &format!("{RECORD}; {}", here(program)));
        let output = installed.run(&["--", "./prog"]);
        let err = err(&output);
        assert_eq!(output.status.code(), Some(128 + number), "{name}: {err}");
        assert!(err.contains("; the trace is kept: contech-middle"), "{err}");
        assert!(!is_running(&installed, "pid"), "{name}: {err}");
        assert!(installed.path("contech-out/trace.bin").is_file());
        assert!(!installed.path("contech-out/report.html").exists());
    }
}

/// The page is made after the answer is told: without a place for it, the answer is there all the same.
#[test]
fn the_answer_comes_before_the_page() {
    let here = Installed::working();
    here.script("prog", RECORD);
    let old = here.path("contech-out/report.html");
    here.script(
        "contech-middle",
        "here=$(dirname \"$0\"); cp \"$here/ready.tg\" \"$2\"; mkdir contech-out/report.html",
    );
    fs::create_dir(here.path("contech-out")).unwrap();
    fs::write(&old, "of an earlier run").unwrap();
    let output = here.run(&["--", "./prog"]);
    let said = err(&output);
    let answer = said.find("2 processors for 800 us: ").expect("the answer");
    let failed = said.find("cannot write contech-out/report.html");
    assert!(failed.is_some_and(|failed| failed > answer), "{said}");
    assert!(old.is_dir(), "the old page was removed before the run");
    assert!(!here.path("contech-out/trace.bin").exists());
}

#[test]
fn a_strict_run_says_by_its_status_that_something_is_missing() {
    let limited = Some(Unrecorded {
        of: AccessesOf::Limit,
        since_ns: Some(1000),
    });
    for (complete, unrecorded, ends, status) in [
        (true, None, 0, 0),
        (true, limited, 0, 4),
        (false, limited, 0, 3),
        (true, limited, 7, 7),
    ] {
        let here = Installed::working();
        let mut graph = two();
        graph.meta_mut().complete = complete;
        graph.meta_mut().unrecorded = unrecorded;
        write(graph, &here.path("ready.tg"));
        here.script("prog", &format!("{RECORD}; exit {ends}"));
        let strict = here.run(&["--strict", "--", "./prog"]);
        assert_eq!(strict.status.code(), Some(status), "{strict:?}");
        assert_eq!(here.run(&["--", "./prog"]).status.code(), Some(ends));
    }
}

#[test]
fn a_reader_of_the_messages_who_has_seen_enough_ends_nothing() {
    let here = Installed::working();
    here.script("prog", &format!("{RECORD}; exit 7"));
    let mut command = here.0.contech("run");
    command.args(["--", "./prog"]).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(7));
    assert!(here.path("contech-out/report.html").is_file());
}

#[test]
fn what_went_wrong_is_said() {
    let here = Installed::working();
    here.script("plain", "exit 0");
    fs::write(here.path("data"), "").unwrap();
    for (words, reason) in [
        (
            &["--", "./nowhere"][..],
            "cannot start ./nowhere: no such file",
        ),
        (
            &["--", "no-such-program-in-path"],
            "write ./no-such-program-in-path",
        ),
        (&["--", "./data"], "not executable"),
        (&["--", "./plain"], "build it with contech-cc"),
        (
            &["-o", "data", "--", "./plain"],
            "cannot make the folder data",
        ),
    ] {
        let output = here.run(words);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(err(&output).contains(reason), "{output:?}");
    }
}

#[test]
fn a_converter_that_fails_or_is_missing_leaves_the_trace() {
    let here = Installed::new("echo broken >&2; exit 1");
    here.script("prog", RECORD);
    let output = here.run(&["--", "./prog"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        err(&output).contains("broken\n") && err(&output).contains("the trace is kept"),
        "{output:?}"
    );
    assert!(here.path("contech-out/trace.bin").is_file());
    fs::remove_file(here.path("contech-middle")).unwrap();
    let output = here.run(&["--", "./prog"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        err(&output).contains("contech-middle is missing"),
        "{output:?}"
    );
}

#[test]
fn a_recovered_graph_is_used() {
    let here = Installed::new("here=$(dirname \"$0\"); cp \"$here/ready.tg\" \"$2\"; exit 3");
    here.script("prog", RECORD);
    let output = here.run(&["--", "./prog"]);
    assert!(output.status.success(), "{output:?}");
}
