//! The page of a report or a measurement: one file that contains its style, its script and its
//! data, and fetches nothing.

mod section;

use anyhow::Result;
use serde::Serialize;

use crate::view::states;
pub use section::Section;

const TEMPLATE: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/style.css");
/// The scripts in the order of their use; together they are one script.
const SCRIPTS: [&str; 14] = [
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
    include_str!("assets/glossary.js"),
    include_str!("assets/navigate.js"),
];
/// The script that fills the page of a recorded run, and the one that fills the page of a measured
/// run.
const MAIN: &str = include_str!("assets/main.js");
const SCALE: &str = include_str!("assets/scale.js");
/// What the words of the page mean: the chapter of the book, which has a paragraph for each.
const GLOSSARY: &str = include_str!("../../../../docs/src/guide/glossary.md");
const SCALE_TEMPLATE: &str = include_str!("assets/scale.html");

/// The page of a recorded run of `command`.
///
/// # Errors
/// When the data cannot be put into JSON.
pub fn recorded(command: &str, sections: &[Section], data: &impl Serialize) -> Result<String> {
    assemble(TEMPLATE, "Contech report", MAIN, command, sections, data)
}

/// The page of a program that was measured as it ran (`contech scale`, `profile`).
///
/// # Errors
/// When the data cannot be put into JSON.
pub fn measured<F: Serialize>(data: &MeasuredPage<F>) -> Result<String> {
    let MeasuredPage { brand, command, sections, .. } = data;
    assemble(SCALE_TEMPLATE, brand, SCALE, command, sections, data)
}

/// What the page of a measured program shows.
#[derive(Clone, Debug, Serialize)]
pub struct MeasuredPage<F> {
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
    /// What the script lists as findings.
    pub findings: Vec<F>,
    /// The most important numbers, each with its name.
    pub tiles: Vec<(&'static str, String)>,
    /// What stands below them.
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
    // Within a script element only `<` can end it or start a comment, and JSON has it only in
    // strings.
    let json = serde_json::to_string(data)?.replace('<', "\\u003c");
    let script = [&SCRIPTS[..], &[main]].concat().join("\n");
    let sections: String = sections.iter().map(frame).collect();
    let (title, glossary) = (escape(title), glossary());
    let style = states::style() + STYLE;
    let states = serde_json::to_string(&states::all().collect::<Vec<_>>())?;
    let mut page = String::with_capacity(template.len() + STYLE.len() + script.len() + json.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (slot, after) = after.split_once("}}").unwrap_or((after, ""));
        page.push_str(before);
        page.push_str(match slot {
            "brand" => brand,
            "title" => &title,
            "style" => &style,
            "data" => &json,
            "states" => &states,
            "script" => &script,
            "sections" => &sections,
            "glossary" => &glossary,
            _ => "",
        });
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}

/// The frame of a section, which the script fills; it is folded until a reader opens it.
fn frame(section: &Section) -> String {
    let id = section.id;
    format!(
        "<section id=\"{id}\"><details><summary><h2 id=\"{id}-title\"></h2><span class=\"brief\"></span></summary><div class=\"body\"></div></details></section>\n"
    )
}

/// The glossary as a list of terms. Names of one term are separated by commas; code loses its
/// marks.
#[must_use]
pub fn glossary() -> String {
    let entry = |paragraph: &str| {
        let (term, text) = paragraph.strip_prefix("**")?.split_once(".**")?;
        let id = term.split(',').next()?.to_lowercase().replace(' ', "-");
        let [term, text] = [term, text.trim()].map(|text| escape(&text.replace('`', "")));
        Some(format!("<div><dt id=\"term-{id}\">{term}</dt><dd>{text}</dd></div>\n"))
    };
    GLOSSARY.split("\n\n").filter_map(entry).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_paragraph_of_the_glossary_is_a_term() {
        let glossary = glossary();
        let paragraphs = GLOSSARY.split("\n\n").count() - 1;
        assert_eq!(glossary.matches("<dt id=").count(), paragraphs);
    }
}
