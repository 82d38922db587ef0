//! Compiles the C++ shim against the headers of LLVM 22 (`llvm-config-22` or `$LLVM_CONFIG`).

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=shim");
    println!("cargo::rerun-if-env-changed=LLVM_CONFIG");
    let config = std::env::var("LLVM_CONFIG").unwrap_or_else(|_| "llvm-config-22".into());
    let include = match Command::new(&config).arg("--includedir").output() {
        Ok(out) if out.status.success() => String::from_utf8_lossy(&out.stdout).trim().to_owned(),
        _ => {
            println!(
                "cargo::error=the pass needs LLVM 22 and `{config}` does not run: apt-get install llvm-22-dev, or set LLVM_CONFIG"
            );
            std::process::exit(1);
        }
    };
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .file("shim/all.cpp")
        .flag("-isystem")
        .flag(include)
        .flag("-fno-rtti") // as LLVM itself is built
        .flag("-fno-exceptions")
        .flag("-fvisibility=hidden")
        .define("_GNU_SOURCE", None)
        .define("__STDC_CONSTANT_MACROS", None)
        .define("__STDC_FORMAT_MACROS", None)
        .define("__STDC_LIMIT_MACROS", None)
        .compile("contech_shim");
}
