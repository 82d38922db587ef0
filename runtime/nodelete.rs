//! Our shared libraries stay in the process once they are loaded: threads, signal handlers and exit
//! handlers of a host may lead into them after it has closed the plug-in that brought them.

fn main() {
    println!("cargo::rerun-if-changed=Cargo.toml");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
