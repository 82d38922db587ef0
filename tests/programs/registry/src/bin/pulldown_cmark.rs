//! A parser of Markdown.

fn main() {
    let part = |i: u32| {
        format!("# Part {i}\n\nA *word*, `code`, a [link](#{i}).\n\n- one\n  1. two\n\n> said\n\n")
    };
    let text: String = (0..300).map(part).collect();
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, pulldown_cmark::Parser::new(&text));
    println!(
        "{} bytes, {} of them tags",
        html.len(),
        html.matches('<').count()
    );
    print!("{}", &html[..400]);
}
