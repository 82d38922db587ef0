//! The command `contech-backend` as a user meets it: output, messages, exit status.

mod dumps;
mod exports;

mod hostile;
mod measured;
mod refusals;
mod shard;

use std::fs;
use std::process::Stdio;

use crate::folder::Folder;
use crate::samples::{single, write};
use serde_json::{Value, json};

#[test]
fn json_has_the_agreed_keys() {
    let folder = Folder::new();
    let stats = folder.json("stats two.tg --format json");
    let keys = "contexts edges blocks accesses reads writes bytes_accessed duration_ns functions \
                trace_bytes graph_bytes lost_bytes";
    for key in keys.split(' ') {
        assert!(stats[key].is_u64(), "{key}: {stats}");
    }
    let tasks = json!({"work": 8, "create": 1, "join": 1, "sync": 4, "barrier": 1});
    assert_eq!(stats["tasks"], tasks);
    assert_eq!(stats["complete"], true);
    assert!(stats.get("warnings").is_none());

    let parallelism = folder.json("parallelism two.tg --format json");
    assert_eq!(
        (parallelism["average"].as_f64(), parallelism["duration_ns"].as_u64()),
        (Some(1.3125), Some(800_000))
    );
    assert_eq!(parallelism["potential_average"], 1.3125);
    assert_eq!(parallelism["steps"][1], json!({"t_ns": 100_000, "running": 2}));

    let cache = folder.json("cache two.tg --sizes 1K..2K --ways 4,full --format json");
    let points = cache["points"].as_array().unwrap().iter();
    let points: Vec<_> = points.map(|p| json!([p["size"], p["ways"]])).collect();
    let expected =
        [json!([1024, 4]), json!([2048, 4]), json!([1024, "full"]), json!([2048, "full"])];
    assert_eq!(points, expected);
    let first = &cache["points"][0];
    assert_eq!((&first["accesses"], &first["misses"]), (&200.into(), &6.into()));

    let report = folder.json("report two.tg --format json");
    let finding = &report["findings"][0];
    assert_eq!((&finding["rank"], &finding["cause"]), (&1.into(), &"lock".into()));
    assert!(finding["where"].is_string() && finding["share"].is_f64(), "{finding}");
    assert_eq!(folder.json("verify two.tg --format json")["valid"], true);
}

#[test]
fn text_is_aligned_and_csv_is_raw() {
    let folder = Folder::new();
    let text = folder.ok("stats two.tg");
    assert!(text.contains("\ncontexts") && text.contains("\n  barrier"), "{text}");
    assert!(folder.ok("verify two.tg").starts_with("valid: 15 tasks, 5 edges, "));
    let csv = folder.ok("parallelism two.tg --format csv");
    assert!(csv.starts_with("t_ns,running\n0,1\n100000,2\n"), "{csv}");
    let csv = folder.ok("blocks two.tg --format csv");
    assert!(csv.starts_with("block,function,file,line,running,executions\n"), "{csv}");
    assert!(csv.contains(",work,src/two.c,20,1,45\n"), "{csv}");
    let csv = folder.ok("cache two.tg --sizes 1K --ways full --format csv");
    assert_eq!(
        csv,
        "size,ways,accesses,misses,miss_rate,cold,capacity,conflict\n1024,full,200,6,0.03,6,0,0\n"
    );
}

#[test]
fn a_preview_says_from_how_much_and_down_to_which_size_it_is_good() {
    let folder = Folder::new();
    let text = folder.ok("cache two.tg --sample 0.25");
    assert!(
        text.contains("Estimated from 25% of the lines; rough for sizes below 4.00 KiB"),
        "{text}"
    );
}

#[test]
fn results_go_to_a_file_that_replaces_the_old_one() {
    let folder = Folder::new();
    fs::write(folder.path("out.json"), "old").unwrap();
    assert_eq!(folder.ok("stats two.tg --format json -o out.json"), "");
    let written: Value =
        serde_json::from_slice(&fs::read(folder.path("out.json")).unwrap()).unwrap();
    assert_eq!(written["contexts"], 2);
    folder.fails("stats missing.tg -o out.json");
    assert!(fs::read(folder.path("out.json")).unwrap().len() > 10, "a failure leaves the file");
    let message = folder.fails("stats two.tg -o no/such/folder/out.json");
    assert!(message.contains("no/such/folder"), "{message}");
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    let folder = Folder::new();
    write(single(), &folder.path("single.tg"));
    let mut dump = folder.backend("dump --accesses 0:* single.tg");
    let mut child = dump.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
