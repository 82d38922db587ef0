//! A parser of JSON: threads read parts of a list, and one writes what they found.

use std::thread;

use serde_json::{Value, json};

fn main() {
    let item = |i: u64| json!({ "id": i, "name": format!("n{i}"), "tags": ["a", i % 5], "half": i as f64 / 2.0 });
    let texts: Vec<String> = (0..3)
        .map(|part| {
            Value::from((part * 400..(part + 1) * 400).map(item).collect::<Vec<_>>()).to_string()
        })
        .collect();
    let threads: Vec<_> = texts
        .into_iter()
        .map(|text| thread::spawn(move || total(&text)))
        .collect();
    let found: Vec<Value> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    println!("{}", serde_json::to_string_pretty(&found).unwrap());
}

fn total(text: &str) -> Value {
    let list: Value = serde_json::from_str(text).unwrap();
    let list = list.as_array().unwrap();
    let ids: u64 = list.iter().map(|v| v["id"].as_u64().unwrap()).sum();
    let halves: f64 = list.iter().map(|v| v["half"].as_f64().unwrap()).sum();
    json!({ "bytes": text.len(), "ids": ids, "halves": halves })
}
