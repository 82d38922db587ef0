//! Where the tests find the plugin.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The path of the plugin. Cargo does not build a cdylib for the tests of its own package, so this runs cargo for it,
/// in the profile and target folder of the test.
pub(crate) fn path() -> &'static Path {
    static PLUGIN: OnceLock<PathBuf> = OnceLock::new();
    PLUGIN.get_or_init(|| {
        let own = std::env::current_exe().unwrap();
        let profile = own.ancestors().nth(2).unwrap(); // <target>/<profile>/deps/<test>
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "build",
            "--quiet",
            "--package",
            "contech-instrument",
            "--target-dir",
        ]);
        cargo
            .arg(profile.parent().unwrap())
            .current_dir(env!("CARGO_MANIFEST_DIR"));
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().unwrap().success(), "the plugin builds");
        profile.join("libcontech_instrument.so")
    })
}
