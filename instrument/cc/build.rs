//! Puts the headers of `include` beside the drivers, and the name `contech-c++` beside the driver `contech-cxx`: cargo cannot build a program with `+`
//! in its name.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    // <target>/<profile>/build/<package>/out
    let Some(profile) = Path::new(&out).ancestors().nth(3) else {
        return;
    };
    for header in [
        "include/contech/cilk.h",
        "include/contech/refine.h",
        "include/contech/observe.h",
        "include/contech/observe.f90",
        "include/contech/observe.rs",
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
