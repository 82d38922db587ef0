//! Measured speedups beside the bounds of workspan.

use std::fs;

use serde_json::Value;

use crate::folder::Folder;

/// What `contech scale --format json` writes, in short.
fn scale_json(points: &[(u32, f64)]) -> String {
    let point = |&(threads, actual): &(u32, f64)| serde_json::json!({"threads": threads, "t": 6.0 / actual, "speedup": {"linear": threads, "actual": actual}});
    let points: Vec<Value> = points.iter().map(point).collect();
    serde_json::json!({"command": ["./two"], "baseline": 6.0, "points": points}).to_string()
}

#[test]
fn measured_speedups_stand_beside_the_bounds() {
    let folder = Folder::new();
    let points = [(1, 0.96), (3, 1.2), (100, 1.25)];
    fs::write(folder.path("scale.json"), scale_json(&points)).unwrap();
    let line = "workspan two.tg --measured scale.json";
    let text = folder.ok(line);
    let row = |processors: &str| {
        let mut rows = text.lines().map(|line| line.split_whitespace());
        let row = rows.find(|row| row.clone().next() == Some(processors));
        row.map(|row| row.map(str::to_owned).collect::<Vec<_>>())
            .unwrap_or_else(|| panic!("{processors} processors in\n{text}"))
    };
    // Three is no power of two, and a hundred is beyond --p-max: they are there because they were
    // measured.
    for (threads, actual) in points {
        let row = row(&threads.to_string());
        assert_eq!((row.len(), &row[3]), (4, &format!("{actual:.2}")));
    }
    assert_eq!(row("2").len(), 3, "not measured");
    assert!(text.contains("Measured on 100 threads: speedup 1.25, of at most 1.31"));

    let json = folder.json(&format!("{line} --format json"));
    let expected: Vec<Value> = points
        .map(|(threads, actual)| {
            serde_json::json!({"threads": threads, "t": 6.0 / actual, "speedup": {"actual": actual}})
        })
        .into();
    assert_eq!(json["measured"]["points"], Value::from(expected));
    let without = folder.json("workspan two.tg --format json");
    assert!(without.get("measured").is_none());
    assert!(!folder.ok("workspan two.tg").contains("measured"));

    let page = folder.json("report two.tg --measured scale.json --format json");
    let sections = page["sections"].as_array().unwrap();
    let section = sections.iter().find(|s| s["id"] == "workspan").unwrap();
    let parts = section["parts"].as_array().unwrap();
    let chart =
        parts.iter().find(|part| part["chart"]["title"] == "Bounds of the speedup").unwrap();
    let curves = chart["chart"]["series"].as_array().unwrap();
    assert_eq!(curves.len(), 4);
    assert_eq!(
        curves[3],
        serde_json::json!({"name": "measured", "points": [[1.0, 0.96], [3.0, 1.2], [100.0, 1.25]]})
    );
}

#[test]
fn a_measured_speedup_above_the_bound_is_called_that() {
    let folder = Folder::new();
    fs::write(folder.path("scale.json"), scale_json(&[(4, 3.0)])).unwrap();
    let text = folder.ok("workspan two.tg --measured scale.json");
    assert!(text.contains("more than the bound allows"), "{text}");
}

#[test]
fn a_file_without_measured_speedups_is_refused_with_what_is_wrong() {
    let folder = Folder::new();
    let save = r#"{"command":["./a"],"cpus":2,"points":[{"threads":1,"runs":[{"t_ns":5}]}]}"#;
    let zero = r#"{"baseline":1.0,"points":[{"threads":1,"t":0.0,"speedup":{"actual":1.0}}]}"#;
    let long = scale_json(&[(1, 1.0), (2, 2.0)]);
    for (content, wrong) in [
        (String::new(), "is empty"),
        ("threads,speedup\n1,1\n".to_owned(), "is no measured speedup"),
        (long[..long.len() - 5].to_owned(), "is no measured speedup"),
        ("\0\u{1}\u{2}".to_owned(), "is no measured speedup"),
        (r#"{"findings":[]}"#.to_owned(), "is no measured speedup"),
        (save.to_owned(), "is no measured speedup"),
        (scale_json(&[]), "has no points"),
        (scale_json(&[(2, 1.5), (1, 1.0)]), "ascending"),
        (scale_json(&[(2, 1.5), (2, 1.6)]), "ascending"),
        (scale_json(&[(0, 1.0)]), "ascending"),
        (zero.to_owned(), "numbers above 0"),
    ] {
        fs::write(folder.path("foreign.json"), &content).unwrap();
        for command in ["workspan", "report"] {
            let message = folder.fails(&format!("{command} two.tg --measured foreign.json"));
            for part in ["foreign.json", wrong, "contech scale --format json"] {
                assert!(message.contains(part), "{part}: {message} for {content}");
            }
        }
    }
    let message = folder.fails("workspan two.tg --measured nowhere.json");
    assert!(message.contains("cannot read nowhere.json"), "{message}");
}
