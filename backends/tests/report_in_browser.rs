//! The report in a browser: its script runs to the end without an error and draws every section. Needs Chromium
//! (Debian's package `chromium`; `cargo test-all` installs it).

mod samples;

use std::path::Path;
use std::process::Command;

use contech_backends::report::{Choices, PageData, render};
use contech_backends::scaling::{Actual, Measured, MeasuredPoint};
use samples::{builder, graph, many, nothing, single, two};
use taskgraph::builder::GraphBuilder;

/// What a browser made of a page.
struct Seen {
    /// The document after its script ran.
    document: String,
    /// Messages of the script.
    console: Vec<String>,
}

impl Seen {
    /// Markup of one section.
    fn section(&self, id: &str) -> &str {
        let (_, rest) = self
            .document
            .split_once(&format!("<section id=\"{id}\""))
            .unwrap_or_else(|| panic!("section {id}"));
        rest.split_once("</section>").map_or(rest, |(this, _)| this)
    }
}

fn look(name: &str, graph_of: GraphBuilder, theme: &str) -> Seen {
    look_with(name, graph_of, theme, Choices::default())
}

fn look_with(name: &str, graph_of: GraphBuilder, theme: &str, choices: Choices) -> Seen {
    let page = PageData::collect(&graph(graph_of), choices, |_| {}).expect("a report");
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join(format!("{name}.html"));
    std::fs::write(&path, render(&page).expect("a page")).expect("written");
    browse(&path, theme, folder.path())
}

fn browse(page: &Path, theme: &str, folder: &Path) -> Seen {
    let output = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--enable-logging=stderr",
            "--window-size=1280,2000",
            "--virtual-time-budget=4000",
            "--dump-dom",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .arg(format!("file://{}#{theme}", page.display()))
        .output()
        .expect("chromium runs: Debian's package `chromium`, installed by `cargo test-all`");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "chromium: {}: {log}",
        output.status
    );
    Seen {
        document: String::from_utf8(output.stdout).expect("utf-8"),
        console: log
            .lines()
            .filter(|line| line.contains("CONSOLE"))
            .map(str::to_owned)
            .collect(),
    }
}

const SECTIONS: [&str; 11] = [
    "parallelism",
    "blocks",
    "cache",
    "critpath",
    "workspan",
    "factors",
    "misses",
    "hierarchy",
    "sharing",
    "races",
    "memuse",
];

#[test]
fn every_section_draws_something_without_an_error() {
    for (name, graph, theme) in [("two", two(), "light"), ("many", many(128, 4), "dark")] {
        let seen = look(name, graph, theme);
        assert_eq!(seen.console, [] as [&str; 0], "{name}");
        assert!(seen.document.contains(&format!("data-theme=\"{theme}\"")));
        for section in SECTIONS {
            let markup = seen.section(section);
            assert!(
                markup.contains("<path") || markup.contains("<td"),
                "{name}: {section} has neither a curve nor a table: {markup}"
            );
        }
        assert!(seen.section("parallelism").contains("<svg"), "{name}");
        assert!(seen.section("sharing").contains("<svg"), "{name}: matrix");
        let flames = seen.section("workspan").matches("class=\"flames\"").count();
        assert_eq!(flames, 2, "{name}: by work and by span");
        assert!(seen.document.contains("<li><span class=\"meter\">"));
    }
}

#[test]
fn one_context_and_no_context_at_all_are_said_and_not_drawn() {
    let seen = look("single", single(), "light");
    assert_eq!(seen.console, [] as [&str; 0]);
    assert!(seen.section("sharing").contains("No context read"));
    assert!(seen.section("misses").contains("<path"));

    let seen = look("nothing", nothing(), "dark");
    assert_eq!(seen.console, [] as [&str; 0]);
    for section in ["parallelism", "blocks", "cache", "misses"] {
        let markup = seen.section(section);
        assert!(!markup.contains("<path"), "{section} draws nothing");
        assert!(
            markup.contains("class=\"empty\"") || markup.contains("class=\"quiet\""),
            "{section} says so: {markup}"
        );
    }
}

#[test]
fn a_graph_without_accesses_says_which_sections_need_them() {
    let mut b = builder("./sync_only");
    let main = b.context("main");
    b.work(main, 0, 1000, |_| {});
    let seen = look("sync", b, "light");
    assert_eq!(seen.console, [] as [&str; 0]);
    assert!(
        seen.section("sharing").contains("needs a full recording"),
        "{}",
        seen.section("sharing")
    );
}

#[test]
fn measured_speedups_are_a_curve_beside_the_bounds() {
    for (theme, threads) in [("light", &[1, 3, 12][..]), ("dark", &[2])] {
        let points = threads.iter().map(|&threads| MeasuredPoint {
            threads,
            t: 1.0,
            speedup: Actual { actual: 1.25 },
        });
        let measured = Measured {
            baseline: 1.25,
            points: points.collect(),
        };
        let choices = Choices {
            measured: Some(measured),
            ..Choices::default()
        };
        let seen = look_with("measured", two(), theme, choices);
        assert_eq!(seen.console, [] as [&str; 0], "{theme}");
        let section = seen.section("workspan");
        assert_eq!(section.matches("class=\"curve\"").count(), 4, "{section}");
        // The colour of the fourth curve: its line and a dot for each point.
        let circles = section.split("<circle").skip(1);
        let of = |circle: &&str| circle.split('>').next().is_some_and(|c| c.contains("--w3"));
        let fourth = circles.filter(of).count();
        assert_eq!(fourth, threads.len(), "{theme}");
    }
}
