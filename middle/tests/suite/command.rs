//! The command line: exit codes, JSON keys, messages.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use contech_trace::event::SyncOp::MutexLock;
use contech_trace::event::{EndReason, Event, Recorded};

use crate::trace::{LOAD, TraceBuilder, assemble};

fn middle(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_contech-middle"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn sample() -> Vec<u8> {
    let mut t = TraceBuilder::new();
    t.block(0, LOAD, &[0x1234]);
    t.create(0, 1);
    t.sync(1, MutexLock, 0x2000);
    t.join(0, 1);
    t.end(0);
    t.finish()
}

/// A folder with this trace as `t.bin`.
fn folder_of(trace: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.bin"), trace).unwrap();
    folder
}

#[test]
fn a_whole_trace_ends_with_0_and_prints_the_summary() {
    let folder = folder_of(&sample());
    for (arguments, graph) in [(&["t.bin", "g.tg"][..], "g.tg"), (&["t.bin"], "graph.tg")] {
        let out = middle(folder.path(), arguments);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        assert!(text(&out.stdout).contains("contexts   2"));
        assert!(out.stderr.is_empty(), "{}", text(&out.stderr));
        taskgraph::map(folder.path().join(graph)).unwrap().verify().unwrap();
    }
}

/// A script tells a graph without a part of the accesses by a field, and by a status where it asks
/// for it.
#[test]
fn accesses_that_were_left_out_are_told_apart() {
    for (recorded, of) in
        [(Recorded::Limit, "limit"), (Recorded::Outside, "region"), (Recorded::Yes, "")]
    {
        let mut t = TraceBuilder::new();
        t.block(0, LOAD, &[0x1234]);
        let at = t.tick();
        t.event(0, Event::Accesses { at, recorded });
        t.end(0);
        let folder = folder_of(&t.finish());
        let code = |more: &[&str]| {
            let out = middle(folder.path(), &[&["t.bin", "g.tg", "--json"], more].concat());
            let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
            assert_eq!(json["complete"], true);
            assert_eq!(json["unrecorded"]["of"].as_str().unwrap_or(""), of);
            out.status.code()
        };
        assert_eq!(code(&[]), Some(0));
        assert_eq!(code(&["--strict"]), Some(if of.is_empty() { 0 } else { 4 }));
        let text = text(&middle(folder.path(), &["t.bin", "g.tg"]).stdout);
        let but = text.contains("complete   yes, but for the accesses ");
        assert_eq!(but, !of.is_empty(), "{text}");
    }
}

#[test]
fn a_link_beside_the_graph_is_not_written_through() {
    let folder = folder_of(&sample());
    std::fs::write(folder.path().join("victim"), "victim").unwrap();
    // The number of a process can be guessed. Here it is known: the shell becomes contech-middle.
    let out = Command::new("sh")
        .arg("-c")
        .arg("ln -s victim g.tg.tmp-$$; exec \"$0\" t.bin g.tg")
        .arg(env!("CARGO_BIN_EXE_contech-middle"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let victim = std::fs::read(folder.path().join("victim")).unwrap();
    assert_eq!(text(&victim), "victim");
    let graph = std::fs::symlink_metadata(folder.path().join("g.tg")).unwrap();
    assert!(graph.is_file());
}

#[test]
fn json_has_the_promised_keys() {
    let trace = sample();
    let folder = folder_of(&trace);
    let out =
        middle(folder.path(), &["t.bin", "g.tg", "--json", "--memory", "1M", "--threads", "1"]);
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let number = |key: &str| json[key].as_u64().unwrap_or_else(|| panic!("{key} in {json}"));
    assert_eq!(number("contexts"), 2);
    assert_eq!(number("edges"), 2);
    assert_eq!((number("blocks"), number("accesses")), (1, 1));
    assert_eq!(number("trace_bytes"), trace.len() as u64);
    let graph = std::fs::metadata(folder.path().join("g.tg")).unwrap().len();
    assert_eq!((number("graph_bytes"), number("lost_bytes")), (graph, 0));
    assert_eq!(json["complete"], true);
    assert!(json["check"].is_null());
    for (kind, n) in [("work", 2), ("create", 1), ("join", 1), ("sync", 1), ("barrier", 0)] {
        assert_eq!(json["tasks"][kind], n, "{kind}");
    }
}

#[test]
fn notes_in_json_tell_what_is_missing_from_what_no_recording_holds() {
    let mut t = TraceBuilder::new();
    let mut table = crate::trace::module();
    table.name = "asm.c".into();
    table.unrecorded = vec![("inline assembly".into(), 2)];
    t.module(0x90_0000, &table);
    t.start(1);
    [1, 0].into_iter().for_each(|context| t.end_as(context, EndReason::Signal));
    t.totals.as_mut().unwrap().notes = vec!["disk full".into(), "said".into()];
    t.totals.as_mut().unwrap().losses = 1;
    let folder = folder_of(&t.finish());
    let out = middle(folder.path(), &["t.bin", "g.tg", "--json"]);
    assert_eq!(out.status.code(), Some(3), "{}", text(&out.stderr));
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let notes = json["notes"].as_array().unwrap().iter();
    let notes: Vec<_> =
        notes.map(|n| (n["kind"].as_str(), n["missing"].as_bool(), n["text"].as_str())).collect();
    let note = |kind, missing, text| (Some(kind), Some(missing), Some(text));
    let expected = [
        note("remark", false, "a signal ended the program"),
        note("remark", false, "threads still ran when the program ended: context 1"),
        note("limit", false, "not recorded: inline assembly, 2 places in the program"),
        note("loss", true, "disk full"),
        note("remark", false, "said"),
    ];
    assert_eq!(notes, expected);
}

#[test]
fn errors_end_with_1_name_the_file_and_leave_nothing() {
    let folder = folder_of(&sample());
    let at = folder.path();
    std::fs::write(at.join("empty.bin"), b"").unwrap();
    std::fs::write(at.join("text.bin"), b"hello, world").unwrap();
    std::fs::create_dir(at.join("taken.tg")).unwrap();
    for version in [1, 200] {
        let mut trace = sample();
        // The checksum of that format may stand elsewhere.
        trace[8] = version;
        std::fs::write(at.join(format!("v{version}.bin")), trace).unwrap();
    }
    for (arguments, words) in [
        (
            vec!["v1.bin", "g.tg"],
            vec!["v1.bin: trace format version 1, but ", "record the program"],
        ),
        (vec!["v200.bin", "g.tg"], vec!["v200.bin: trace format version 200, but "]),
        (vec!["no.bin", "g.tg"], vec!["no.bin", "run the instrumented program"]),
        (vec!["empty.bin", "g.tg"], vec!["empty.bin", "empty"]),
        (vec!["text.bin", "g.tg"], vec!["text.bin", "not a Contech trace"]),
        (vec!["t.bin", "no/such/g.tg"], vec!["no/such/g.tg", "writable"]),
        (vec!["t.bin", "taken.tg"], vec!["taken.tg", "not a regular file"]),
        (vec!["t.bin", "t.bin"], vec!["t.bin", "another name"]),
        (vec!["t.bin", "u.bin", "g.tg"], vec!["t.bin", "which MPI rank", "leave it out"]),
    ] {
        let out = middle(at, &arguments);
        let error = text(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{arguments:?}: {error}");
        for word in words {
            assert!(error.contains(word), "{arguments:?}: {error}");
        }
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    assert_eq!(std::fs::read_dir(at).unwrap().count(), 6);
}

#[test]
fn a_trace_may_come_through_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_contech-middle"))
        .current_dir(folder.path())
        .args(["-", "g.tg"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&sample()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(folder.path().join("g.tg").exists());
}

#[test]
fn the_text_form_has_a_line_per_block_and_event() {
    let folder = folder_of(&sample());
    let out = text(&middle(folder.path(), &["--dump-trace", "t.bin"]).stdout);
    for line in [
        "run [\"program\", \"-x\"]",
        "0 block 1 work(int*) program.cpp:11 0x1234",
        "1 sync MutexLock object 0x2000 ticket 1",
        "1 end Finished",
        "end complete true",
    ] {
        assert!(out.contains(line), "{line} in\n{out}");
    }
    let one = text(&middle(folder.path(), &["--dump-trace", "t.bin", "--context", "1"]).stdout);
    assert!(one.contains("\n1 start") && !one.contains("\n0 "), "{one}");
}

#[test]
fn interruption_removes_the_unfinished_graph() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_contech-middle"))
        .current_dir(folder.path())
        .args(["-", "g.tg"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&assemble(&[])).unwrap();
    input.flush().unwrap();
    // The temporary graph appears once the header was read.
    while std::fs::read_dir(folder.path()).unwrap().count() == 0 {
        std::thread::yield_now();
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(130), "{}", text(&out.stderr));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    drop(input);
}
