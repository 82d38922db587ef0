//! The HTML page: one file that contains its style, its script and its data, and fetches nothing.

use anyhow::Result;
use serde::Serialize;

use super::data::PageData;
use super::section::Section;
use crate::scaling;

const TEMPLATE: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/style.css");
/// The scripts in the order of their use; together they are one script.
const SCRIPTS: [&str; 12] = [
    include_str!("assets/theme.js"),
    include_str!("assets/format.js"),
    include_str!("assets/svg.js"),
    include_str!("assets/plot.js"),
    include_str!("assets/grid.js"),
    include_str!("assets/timeline.js"),
    include_str!("assets/blocks.js"),
    include_str!("assets/cache.js"),
    include_str!("assets/view.js"),
    include_str!("assets/flame.js"),
    include_str!("assets/stacks.js"),
    include_str!("assets/activity.js"),
];
/// The script that fills the page of a recorded run, and the one that fills the page of a measured run.
const MAIN: &str = include_str!("assets/main.js");
const SCALE: &str = include_str!("assets/scale.js");
const SCALE_TEMPLATE: &str = include_str!("assets/scale.html");

/// The page for `data`.
///
/// # Errors
/// When the data cannot be put into JSON.
pub fn render(data: &PageData) -> Result<String> {
    assemble(
        TEMPLATE,
        "Contech report",
        MAIN,
        &data.run.command.join(" "),
        &data.sections,
        data,
    )
}

/// The page of a program that was measured as it ran (`contech scale`, `profile`).
///
/// # Errors
/// When the data cannot be put into JSON.
pub fn render_measured(data: &MeasuredPage) -> Result<String> {
    let brand = data.brand;
    assemble(
        SCALE_TEMPLATE,
        brand,
        SCALE,
        &data.command,
        &data.sections,
        data,
    )
}

/// What the page of a measured program shows.
#[derive(Clone, Debug, Serialize)]
pub struct MeasuredPage {
    /// The kind of page.
    #[serde(skip)]
    pub brand: &'static str,
    /// The command.
    pub command: String,
    /// How the program was measured, in words.
    pub measured: String,
    /// The run in one sentence.
    pub headline: String,
    /// What limits the results.
    pub warnings: Vec<String>,
    pub findings: Vec<scaling::Finding>,
    /// The most important numbers, each with its name.
    pub tiles: Vec<(&'static str, String)>,
    pub sections: Vec<Section>,
}

fn assemble(
    template: &str,
    brand: &str,
    main: &str,
    title: &str,
    sections: &[Section],
    data: &impl Serialize,
) -> Result<String> {
    // Within a script element only `<` can end it or start a comment, and JSON has it only in strings.
    let json = serde_json::to_string(data)?.replace('<', "\\u003c");
    let script = [&SCRIPTS[..], &[main]].concat().join("\n");
    let sections: String = sections.iter().map(frame).collect();
    let title = escape(title);
    let mut page = String::with_capacity(template.len() + STYLE.len() + script.len() + json.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (slot, after) = after.split_once("}}").unwrap_or((after, ""));
        page.push_str(before);
        page.push_str(match slot {
            "brand" => brand,
            "title" => &title,
            "style" => STYLE,
            "data" => &json,
            "script" => &script,
            "sections" => &sections,
            _ => "",
        });
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}

/// The frame of a section, which the script fills.
fn frame(section: &Section) -> String {
    let id = section.id;
    format!("<section id=\"{id}\" aria-labelledby=\"{id}-title\"></section>\n")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
