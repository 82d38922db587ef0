//! Compiles the part in C with the system's compiler. A build script itself is never recorded.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src/part.c");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let (object, library) = (out.join("part.o"), out.join("libpart.a"));
    let mut compile = Command::new("cc");
    compile
        .args(["-O1", "-fPIC", "-c", "src/part.c", "-o"])
        .arg(&object);
    assert!(compile.status().unwrap().success());
    let mut pack = Command::new("ar");
    assert!(
        pack.arg("rcs")
            .arg(&library)
            .arg(&object)
            .status()
            .unwrap()
            .success()
    );
    println!("cargo::rustc-link-search=native={}", out.display());
    println!("cargo::rustc-link-lib=static=part");
}
