//! The HTML page: one file with its style, its script and its data inside, and nothing fetched from anywhere.

use anyhow::Result;

use super::data::PageData;
use super::section::Section;

const TEMPLATE: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/style.css");
/// In order of use; together one script.
const SCRIPTS: [&str; 10] = [
    include_str!("assets/format.js"),
    include_str!("assets/svg.js"),
    include_str!("assets/plot.js"),
    include_str!("assets/grid.js"),
    include_str!("assets/timeline.js"),
    include_str!("assets/blocks.js"),
    include_str!("assets/cache.js"),
    include_str!("assets/view.js"),
    include_str!("assets/flame.js"),
    include_str!("assets/main.js"),
];

/// The page for `data`.
///
/// # Errors
/// When the data cannot be put into JSON.
pub fn render(data: &PageData) -> Result<String> {
    // Within a script element only `<` can end it or start a comment; in JSON it occurs in strings alone.
    let json = serde_json::to_string(data)?.replace('<', "\\u003c");
    let script = SCRIPTS.join("\n");
    let menu: String = data.sections.iter().map(menu).collect();
    let sections: String = data.sections.iter().map(frame).collect();
    let title = escape(&data.run.command.join(" "));
    let mut page = String::with_capacity(TEMPLATE.len() + STYLE.len() + script.len() + json.len());
    let mut rest = TEMPLATE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (slot, after) = after.split_once("}}").unwrap_or((after, ""));
        page.push_str(before);
        page.push_str(match slot {
            "title" => &title,
            "style" => STYLE,
            "data" => &json,
            "script" => &script,
            "menu" => &menu,
            "sections" => &sections,
            _ => "",
        });
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}

/// The place of a section; the script fills it.
fn frame(section: &Section) -> String {
    let id = section.id;
    format!("<section id=\"{id}\" aria-labelledby=\"{id}-title\"></section>\n")
}

/// Its entry in the menu.
fn menu(section: &Section) -> String {
    format!("<a href=\"#{}\">{}</a>\n", section.id, escape(section.menu))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
