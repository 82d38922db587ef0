//! Writes sample graphs into a folder, to look at what the analyses and the report make of them:
//! `cargo run -p contech-backends --example sample_graphs -- FOLDER`.

#[path = "../tests/suite/samples/mod.rs"]
mod samples;

use std::path::PathBuf;

fn main() -> anyhow::Result<()> {
    let folder: PathBuf = std::env::args_os().nth(1).map_or_else(|| ".".into(), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    for (name, builder) in [
        ("nothing", samples::nothing()),
        ("single", samples::single()),
        ("two", samples::two()),
        ("many", samples::many(128, 40)),
        ("long", samples::many(8, 3000)),
    ] {
        let path = folder.join(name).with_extension("tg");
        samples::write(builder, &path);
        println!("{}", path.display());
    }
    Ok(())
}
