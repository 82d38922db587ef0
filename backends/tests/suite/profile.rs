//! `contech-backend profile`: what a program of `--contech-mode=workspan` wrote, and files that are
//! something else.

use std::fs;

use serde_json::{Value, json};

use crate::folder::Folder;

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

/// The folder with a profile of this text.
fn folder(text: &str) -> Folder {
    let folder = Folder::new();
    fs::write(folder.path("workspan.json"), text).expect("written");
    folder
}

#[test]
fn an_on_line_profile_is_shown_as_text_csv_json_and_a_page() {
    let folder = folder(&whole().to_string());
    let text = folder.ok("profile workspan.json");
    assert!(text.contains("Work 1,000 operations, span 100 operations: parallelism 10.00."));
    assert!(text.contains("60% of the span is the own code of step (spawned at prog.c:7"));
    let csv = folder.ok("profile workspan.json --format csv");
    assert!(csv.contains("7,/src/prog.c,main,step,spawn,8,900,90,10,"), "{csv}");
    let json = folder.json("profile workspan.json --format json --html page.html");
    assert_eq!(json["bounds"][15]["upper"], 10.0);
    let page = fs::read_to_string(folder.path("page.html")).expect("a page");
    assert!(page.contains("<title>Contech profile: "), "no title");
}

#[test]
fn what_limits_a_profile_is_said() {
    let mut profile = whole();
    profile["notes"] = json!(["the program ended inside 2 invocations"]);
    let text = folder(&profile.to_string()).ok("profile workspan.json");
    assert!(text.contains("ended inside 2 invocations"), "{text}");
}

#[test]
fn other_files_are_refused_with_what_was_expected_and_what_to_do() {
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
        let folder = folder(text);
        let error = folder.fails("profile workspan.json -o out");
        assert!(error.contains(said) && error.contains("workspan.json"), "{error}");
        assert!(!folder.path("out").exists());
    }
    assert!(Folder::new().fails("profile none").contains("cannot read"));
}

#[test]
fn functions_of_cxx_are_named_as_in_the_source() {
    let text = whole().to_string().replace("step", "_ZN5solve4stepEi");
    let text = folder(&text).ok("profile workspan.json");
    assert!(text.contains("the own code of solve::step(int) "), "{text}");
}
