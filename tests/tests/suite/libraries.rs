//! Threads that libraries make for themselves, and programs that run with more rights than their
//! caller.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use anyhow::{Context, Result, bail};
use contech_tests::process::run;
use contech_tests::recording::{Recording, backend_json, told};
use contech_tests::scratch::{Scratch, files};
use contech_tests::toolchain::Toolchain;

#[test]
fn threads_nobody_announced_are_named_with_their_library() -> Result<()> {
    let scratch = Scratch::new("libraries/unannounced")?;
    let pool = scratch.write(
        "pool.c",
        "#include <pthread.h>\nvoid each(void *(*f)(void *), int n) {\n  pthread_t t[8];\n  for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, (void *)(long)i);\n  for (int i = 0; i < n; i++) pthread_join(t[i], 0);\n}\n",
    )?;
    let main = scratch.write(
        "main.c",
        "#include <stdio.h>\nvoid each(void *(*f)(void *), int n);\nstatic long cells[3];\nstatic void *work(void *i) { cells[(long)i] = (long)i + 1; return 0; }\nint main(void) { each(work, 3); printf(\"%ld\\n\", cells[0] + cells[1] + cells[2]); return 0; }\n",
    )?;
    let library = scratch.join("libpool.so");
    Toolchain::native().compile(&pool, &["-O1", "-shared", "-fPIC", "-pthread"], &library)?;
    let flags = ["-O1", &library.display().to_string()];
    let mut command = Toolchain::contech().compile(&main, &flags, &scratch.join("prog"))?;
    let (run, graph) = Recording::whole(&mut command, &scratch.join("traces"))?;
    assert_eq!(run.out(), "6\n");
    // The library joins its threads before main reads what they wrote, and nothing tells of it.
    let found = backend_json(&["races"], &graph)?;
    assert_eq!(found["races"], serde_json::json!([]), "{found}");
    let reason = found["unknown"][0]["reason"].as_str().unwrap_or("");
    assert!(reason.contains("a thread that libpool.so made"), "{found}");
    assert_eq!(found["unknown"][0]["pairs"][0]["b"]["function"], "work");
    let told = told(&graph)?;
    assert!(told.contains("3 threads appeared unannounced in libpool.so"), "{told}");
    scratch.done()
}

#[test]
fn a_setuid_program_runs_untraced() -> Result<()> {
    let id = run(Command::new("id").arg("-u"))?.ok()?.out();
    if id.trim() != "0" {
        bail!(
            "only root can give a program to root; leave this test out with --skip a_setuid_program_runs_untraced"
        );
    }
    let scratch = Scratch::new("libraries/setuid")?;
    Toolchain::contech().text(
        &scratch,
        "prog.c",
        "#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf(\"%d %d\\n\", (int)getuid(), (int)geteuid()); return 0; }\n",
        &[],
    )?;
    // Any user can reach this folder; the recording library stays where the program says it is.
    let place = std::env::temp_dir().join(format!("contech-setuid-{}", std::process::id()));
    fs::create_dir_all(&place)?;
    fs::set_permissions(&place, fs::Permissions::from_mode(0o777))?;
    let prog = place.join("prog");
    fs::copy(scratch.join("prog"), &prog)?;
    let traced = |mode: u32, name: &str| -> Result<(String, usize)> {
        fs::set_permissions(&prog, fs::Permissions::from_mode(mode))?;
        let traces = place.join(name);
        fs::create_dir_all(&traces)?;
        fs::set_permissions(&traces, fs::Permissions::from_mode(0o777))?;
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&prog)
            .env("CONTECH_TRACE", traces.join("trace.%p.bin"));
        let done = run(&mut command)?.ok().context("setpriv")?;
        assert_eq!(done.err(), "");
        Ok((done.out(), files(&traces, "bin")?.len()))
    };
    let plain = traced(0o755, "plain")?;
    let privileged = traced(0o4755, "privileged")?;
    fs::remove_dir_all(&place)?;
    assert_eq!(plain, ("65534 65534\n".to_owned(), 1));
    assert_eq!(privileged, ("65534 0\n".to_owned(), 0));
    scratch.done()
}
