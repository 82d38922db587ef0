//! Puts the headers of `include` beside the drivers, and names that cargo cannot give.

use std::path::Path;

/// Names beside the drivers, and what they stand for.
const LINKS: [(&str, &str); 3] = [
    ("contech-c++", "contech-cxx"), // cargo cannot build a program with `+` in its name
    // CMake takes what stands before `cc` in the compiler's name as the prefix of the archiver that
    // interprocedural optimisation needs.
    ("contech-llvm-ar", "/usr/lib/llvm-22/bin/llvm-ar"),
    ("contech-llvm-ranlib", "/usr/lib/llvm-22/bin/llvm-ranlib"),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    // <target>/<profile>/build/<package>/out
    let Some(profile) = Path::new(&out).ancestors().nth(3) else {
        return;
    };
    for header in [
        "include/contech/cilk.h",
        "include/contech/observe.h",
        "include/contech/observe.f90",
        "include/contech/observe.rs",
        "include/contech/tasks.rs",
        "include/contech/flang/mpif.h",
    ] {
        println!("cargo::rerun-if-changed={header}");
        let to = profile.join(header);
        let copied = to
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::copy(header, &to));
        if let Err(e) = copied {
            println!("cargo::warning=cannot copy {header}: {e}");
        }
    }
    for (name, target) in LINKS {
        let link = profile.join(name);
        // What is not there need not be removed.
        let _ = std::fs::remove_file(&link);
        if let Err(e) = std::os::unix::fs::symlink(target, &link) {
            println!("cargo::warning=cannot link {} to {target}: {e}", link.display());
        }
    }
}
