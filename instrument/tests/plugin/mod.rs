//! Where the tests find the plugin.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The path of the plugin. Cargo does not build a cdylib for the tests of its own package, so this runs cargo for it. It
/// is the one that the user gets, built with the whole workspace, because libraries of a part would have other features.
pub(crate) fn path() -> &'static Path {
    static PLUGIN: OnceLock<PathBuf> = OnceLock::new();
    PLUGIN.get_or_init(|| {
        let own = std::env::current_exe().unwrap();
        let target = own.ancestors().nth(3).unwrap(); // <target>/<profile>/deps/<test>
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "build",
            "--quiet",
            "--workspace",
            "--release",
            "--target-dir",
        ]);
        cargo.arg(target).current_dir(env!("CARGO_MANIFEST_DIR"));
        assert!(cargo.status().unwrap().success(), "the plugin builds");
        target.join("release/libcontech_instrument.so")
    })
}
