//! What the profiles of the paper's programs show.

use anyhow::{Context, Result, ensure};
use contech_tests::recording::backend;
use contech_tests::scratch::Scratch;

use super::profile::{number, site};
use super::programs::{analyse, build_and_run, from_graph};

#[test]
fn the_fix_of_breadth_first_search_raises_its_parallelism() -> Result<()> {
    let parallelism = |name| {
        let profile = from_graph(name)?;
        let level = site(&profile, "main", "process_level", "call")?;
        Ok::<_, anyhow::Error>((
            number(level, "/on_work/top_call_site/work")
                / number(level, "/on_work/top_call_site/span"),
            profile,
        ))
    };
    let ((before, profile), (after, _)) = (parallelism("bfs")?, parallelism("bfs_fixed")?);
    assert!(after / before > 5.0, "{before} to {after}");
    let level =
        number(site(&profile, "main", "process_level", "call")?, "/on_work/top_call_site/span");
    let nodes = profile["sites"]
        .as_array()
        .context("sites")?
        .iter()
        .find(|s| s["callee"] == "process_nodes");
    let own = number(nodes.context("process_nodes")?, "/on_span/local/span");
    assert!(own / level > 0.66, "process_nodes is {own} of {level}");
    Ok(())
}

#[test]
fn a_report_of_a_serial_run_says_what_its_spawns_allow() -> Result<()> {
    let scratch = Scratch::new("cilk-report")?;
    let dir = scratch.dir();
    build_and_run("cilksort.c", dir, &[])?;
    let parallelism = number(&analyse(dir, "time")?, "/parallelism");
    let page = dir.join("report.html");
    let to = page.display().to_string();
    backend(&["report", "-o", &to], &dir.join("graph.tg"))?.ok()?;
    let page = std::fs::read_to_string(page)?;
    let said = format!("what could run in parallel: {parallelism:.2} processors on average");
    ensure!(page.contains(&said), "the report does not say: {said}");
    scratch.done()
}
