//! `contech-backend profile`: what a program of `--contech-mode=workspan` wrote, and files that are
//! something else.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

fn measure(work: u64, span: u64) -> Value {
    let sum = |count: u64, work, span| json!({"count": count, "work": work, "span": span});
    json!({"top_call_site": sum(1, work, span), "top_caller": sum(0, 0, 0), "local": sum(8, 90, 60)})
}

/// A profile of 1,000 operations, 100 of them on the longest path.
fn whole() -> Value {
    let site = |callee: &str, kind: &str, line: u32| {
        json!({"caller": "main", "callee": callee, "file": "/src/prog.c", "line": line, "kind": kind, "count": 8,
               "on_work": measure(900, 90), "on_span": measure(90, 60)})
    };
    json!({"format": "contech-workspan", "version": 2, "metric": "ops", "work": 1000, "span": 100, "parallelism": 10.0,
           "complete": true, "depth": 2, "elements": 0, "notes": [],
           "sites": [site("step", "spawn", 7), site("leaf", "call", 9)]})
}

fn file(folder: &TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("workspan.json");
    std::fs::write(&path, text).expect("written");
    path
}

fn backend(file: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_contech-backend"));
    command.env("COLUMNS", "10000");
    command.arg("profile").arg(file).args(more);
    command.output().expect("it runs")
}

fn out(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn an_on_line_profile_is_shown_as_text_csv_json_and_a_page() {
    let folder = TempDir::new().expect("temporary folder");
    let path = file(&folder, &whole().to_string());
    let text = out(&backend(&path, &[]));
    assert!(text.contains("Work 1,000 operations, span 100 operations: parallelism 10.00."));
    assert!(text.contains("60% of the span is the own code of step (spawned at prog.c:7"));
    let csv = out(&backend(&path, &["--format", "csv"]));
    assert!(csv.contains("7,/src/prog.c,main,step,spawn,8,900,90,10,"), "{csv}");
    let page = folder.path().join("page.html");
    let page_name = page.display().to_string();
    let json = out(&backend(&path, &["--format", "json", "--html", &page_name]));
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["bounds"][15]["upper"], 10.0);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains("<title>Contech profile: "), "no title");
}

#[test]
fn what_limits_a_profile_is_said() {
    let folder = TempDir::new().expect("temporary folder");
    let mut profile = whole();
    profile["notes"] = json!(["the program ended inside 2 invocations"]);
    let text = out(&backend(&file(&folder, &profile.to_string()), &[]));
    assert!(text.contains("ended inside 2 invocations"), "{text}");
}

#[test]
fn other_files_are_refused_with_what_was_expected_and_what_to_do() {
    let folder = TempDir::new().expect("temporary folder");
    let whole = whole().to_string();
    let newer = whole.replace("\"version\":2", "\"version\":3");
    let other = whole.replace("contech-workspan", "something");
    let without = whole.replace("\"sites\"", "\"places\"");
    for (text, said) in [
        ("", "no on-line work/span profile"),
        ("{}", "no on-line work/span profile"),
        (&whole[..whole.len() / 2], "no on-line work/span profile"),
        (&newer, "has version 3; this program reads version 2"),
        (&other, "says it is \"something\"; expected \"contech-workspan\""),
        (&without, "is damaged; run the program again"),
    ] {
        let path = file(&folder, text);
        let output = backend(&path, &["-o", &folder.path().join("out").display().to_string()]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains(said) && error.contains("workspan.json"), "{error}");
        assert!(!folder.path().join("out").exists());
    }
    let output = backend(&folder.path().join("none"), &[]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot read"));
}

#[test]
fn functions_of_cxx_are_named_as_in_the_source() {
    let folder = TempDir::new().expect("temporary folder");
    let text = whole().to_string().replace("step", "_ZN5solve4stepEi");
    let text = out(&backend(&file(&folder, &text), &[]));
    assert!(text.contains("the own code of solve::step(int) "), "{text}");
}
