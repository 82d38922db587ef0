//! The report page: complete in itself, small, and with everything it should show.

use crate::graphs;
use crate::samples::{builder, graph, many, two};
use contech_backends::analysis::run;
use contech_backends::cache::{self, Cache};
use contech_backends::report::render;
use serde_json::Value;
use taskgraph::MemOp;
use taskgraph::builder::GraphBuilder;

const LIMIT: usize = 3 << 20;

fn page(builder: GraphBuilder) -> String {
    render(&graphs::page(builder)).unwrap()
}

/// The data inside the page.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(json).unwrap()
}

/// The account counts blocks for the answer, before the page decodes the frames.
#[test]
fn the_frames_of_one_context_are_counted_once_and_decoded_twice_at_most() {
    let mut b = builder("./walk");
    let block = b.block("walk", "walk.c", 3, &[MemOp::load(8), MemOp::store(4)]);
    let main = b.context("main");
    let mut at = 1u64;
    for task in 0..3 {
        b.work(main, 100 * task, 100 * task + 100, |w| {
            for _ in 0..130_000 {
                at = at.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ at >> 29;
                w.block(block, &[at >> 44, at >> 42 & 0xffff]);
            }
        });
    }
    let graph = graph(b);
    run::<Cache>(cache::Options::default(), &graph).unwrap();
    let once = graph.frames_decoded();
    assert!(once > 1, "{once}");
    graphs::page_of(&graph);
    let report = graph.frames_decoded() - once;
    assert!(report <= 3 * once, "{report} for {once} frames");
}

#[test]
fn a_page_stands_alone() {
    let page = page(two());
    for reference in ["http://", "https://", "src=", "@import", "url(", "fetch(", "XMLHttpRequest"]
    {
        // The namespace of SVG is a name, and is never fetched; clip paths refer into the page.
        let rest = page.replace("http://www.w3.org/2000/svg", "").replace("url(#", "");
        assert!(!rest.contains(reference), "{reference}");
    }
    assert!(page.contains("<link rel=\"icon\" href=\"data:,\">"), "no request for an icon either");
}

#[test]
fn a_page_has_its_data() {
    let page = page(two());
    assert!(page.contains("<title>Contech report: ./two</title>"));
    for slot in ["title", "style", "data", "script", "menu", "sections"] {
        assert!(!page.contains(&format!("{{{{{slot}}}}}")), "{slot} is filled");
    }
    let data = data(&page);
    let headline = data["headline"].as_str().unwrap();
    assert!(
        headline.starts_with(
            "A run of 800 us is too short to judge a program by. 2 processors for 800 us: "
        ),
        "{headline}"
    );
    assert_eq!(
        data["parallelism"]["t_ns"].as_array().unwrap().len(),
        data["parallelism"]["average_running"].as_array().unwrap().len()
    );
    assert_eq!(data["blocks"]["rows"].as_array().unwrap().len(), 5);
    assert_eq!(data["cache"]["points"].as_array().unwrap().len(), 19 * 6);
    assert_eq!(data["run"]["command"], serde_json::json!(["./two"]));
}

#[test]
fn pages_stay_small_whatever_the_run() {
    let wide = page(many(256, 30));
    assert!(wide.len() < LIMIT, "{} bytes", wide.len());
    // Long names of templates are cut, many blocks are left out.
    let mut b = builder("./names");
    let blocks: Vec<_> = (0..4000)
        .map(|i| b.block(&format!("f{i}<{}>", "std::vector<int>, ".repeat(40)), "f.cpp", 1, &[]))
        .collect();
    let main = b.context("main");
    b.work(main, 0, 1000, |w| blocks.iter().for_each(|&block| w.block(block, &[])));
    let page = page(b);
    assert!(page.len() < LIMIT, "{} bytes", page.len());
    assert_eq!(data(&page)["blocks"]["total"], 4000);
}
