//! Puts the header `include/contech/cilk.h` beside the drivers, and the name `contech-c++` beside the driver `contech-cxx`: cargo cannot build a program with `+`
//! in its name.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    // <target>/<profile>/build/<package>/out
    let Some(profile) = Path::new(&out).ancestors().nth(3) else {
        return;
    };
    let header = Path::new("include/contech/cilk.h");
    println!("cargo::rerun-if-changed={}", header.display());
    let copied = std::fs::create_dir_all(profile.join("include/contech"))
        .and_then(|()| std::fs::copy(header, profile.join(header)));
    if let Err(e) = copied {
        println!("cargo::warning=cannot copy {}: {e}", header.display());
    }
    let link = profile.join("contech-c++");
    let made = std::fs::remove_file(&link)
        .or_else(|e| {
            if e.kind() == std::io::ErrorKind::NotFound {
                Ok(())
            } else {
                Err(e)
            }
        })
        .and_then(|()| std::os::unix::fs::symlink("contech-cxx", &link));
    if let Err(e) = made {
        println!(
            "cargo::warning=cannot link {} to contech-cxx: {e}",
            link.display()
        );
    }
}
