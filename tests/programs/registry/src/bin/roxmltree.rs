//! A parser of XML.

fn main() {
    let item = |i: u32| {
        format!(
            "<item n='{i}'><name>thing {}</name><!-- no {i} --><price>{}</price></item>",
            i % 7,
            i * 3 % 101
        )
    };
    let text = format!("<list>{}</list>", (0..1500).map(item).collect::<String>());
    let document = roxmltree::Document::parse(&text).unwrap();
    let named = |name| document.descendants().filter(move |n| n.has_tag_name(name));
    let total: u32 = named("price")
        .map(|n| n.text().unwrap().parse::<u32>().unwrap())
        .sum();
    let odd = named("item").filter(|n| {
        n.attribute("n")
            .unwrap()
            .ends_with(['1', '3', '5', '7', '9'])
    });
    println!(
        "{total} for {} items, {} odd",
        named("item").count(),
        odd.count()
    );
}
