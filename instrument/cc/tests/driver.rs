//! The drivers as programs: a stand-in for clang shows the command line that they become.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with a fake clang, plugin and runtime, which is removed at the end.
struct Kit {
    folder: PathBuf,
}

impl Kit {
    fn new(name: &str) -> Kit {
        let folder = std::env::temp_dir().join(format!("contech-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let clang = folder.join("clang");
        std::fs::write(
            folder.join("text"),
            "#!/bin/sh\necho \"$CONTECH_PASS_OPTIONS\"\nfor a; do echo \"$a\"; done\nexit 7\n",
        )
        .unwrap();
        // Another process writes the file. A file that this process wrote cannot be started while a fork of another
        // test has it open.
        let mut install = Command::new("install");
        install
            .args(["-m", "755"])
            .arg(folder.join("text"))
            .arg(&clang);
        assert!(install.status().unwrap().success());
        for file in ["libcontech_instrument.so", "libcontech_rt.so"] {
            std::fs::write(folder.join(file), "").unwrap();
        }
        Kit { folder }
    }

    fn driver(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("CONTECH_CLANG", self.folder.join("clang"))
            .env("CONTECH_HOME", &self.folder)
            .env_remove("CONTECH_OPTIONS")
            .env_remove("CONTECH_PASS_OPTIONS");
        command
    }
}

impl Drop for Kit {
    fn drop(&mut self) {
        // A leftover temporary folder is no failure.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

const CC: &str = env!("CARGO_BIN_EXE_contech-cc");
const CXX: &str = env!("CARGO_BIN_EXE_contech-cxx");

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8(output.stdout.clone())
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

fn error(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn arguments_and_exit_code_are_those_of_clang() {
    let kit = Kit::new("arguments");
    let output = kit
        .driver(CC)
        .args(["-c", "a b.c", "-DX=\"1 2\"", "-o", "x"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(7));
    let got = lines(&output);
    assert_eq!(got[0], "mode=full");
    assert_eq!(
        got[got.len() - 5..],
        ["-c", "a b.c", "-DX=\"1 2\"", "-o", "x"]
    );
    let plugin = format!(
        "-fpass-plugin={}/libcontech_instrument.so",
        kit.folder.display()
    );
    assert!(got.contains(&plugin), "{got:?}");
}

#[test]
fn options_come_from_the_command_line_and_the_environment() {
    let kit = Kit::new("options");
    let output = kit
        .driver(CC)
        .env("CONTECH_OPTIONS", "--contech-naive")
        .env("CONTECH_PASS_OPTIONS", "verify")
        .args(["--contech-mode=sync", "-c", "a.c"])
        .output()
        .unwrap();
    let got = lines(&output);
    assert_eq!(got[0], "mode=sync,naive,verify");
    assert!(!got.iter().any(|a| a.starts_with("--contech")), "{got:?}");
}

#[test]
fn forms_reach_the_pass_and_response_files_may_ask_for_them() {
    let kit = Kit::new("forms");
    for form in ["naive", "fast", "check"] {
        let option = format!("--contech-{form}");
        let driver = kit.driver(CXX).args([&option, "-c", "a.cc"]).output();
        assert_eq!(lines(&driver.unwrap())[0], format!("mode=full,{form}"));
    }
    let file = kit.folder.join("arguments");
    std::fs::write(&file, "--contech-check -c\n'a b.c'\n").unwrap();
    let output = kit
        .driver(CC)
        .arg(format!("@{}", file.display()))
        .output()
        .unwrap();
    let got = lines(&output);
    assert_eq!(got[0], "mode=full,check");
    assert_eq!(got[got.len() - 2..], ["-c", "a b.c"]);
}

#[test]
fn options_in_a_response_file_too_long_for_a_command_line_are_refused_with_a_way_out() {
    let kit = Kit::new("long");
    let file = kit.folder.join("arguments");
    let words = "-DNAME=value ".repeat(1_000_000);
    std::fs::write(&file, format!("--contech-check -c a.c {words}")).unwrap();
    let output = kit
        .driver(CC)
        .arg(format!("@{}", file.display()))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        error(&output).contains("CONTECH_OPTIONS"),
        "{}",
        error(&output)
    );
}

#[test]
fn the_cxx_driver_is_clang_in_cxx_mode_under_both_its_names() {
    let kit = Kit::new("cxx");
    let alias = Path::new(CXX).with_file_name("contech-c++");
    for program in [Path::new(CXX), &alias] {
        let output = kit
            .driver(program.to_str().unwrap())
            .arg("-v")
            .output()
            .unwrap();
        assert_eq!(lines(&output)[1..], ["--driver-mode=g++", "-v"]);
    }
}

#[test]
fn questions_need_neither_plugin_nor_runtime() {
    let kit = Kit::new("questions");
    std::fs::remove_file(kit.folder.join("libcontech_instrument.so")).unwrap();
    std::fs::remove_file(kit.folder.join("libcontech_rt.so")).unwrap();
    let output = kit.driver(CC).args(["-E", "a.c"]).output().unwrap();
    assert_eq!(lines(&output)[1..], ["-E", "a.c"]);
}

#[test]
fn a_missing_clang_is_named_with_the_package_to_install() {
    let kit = Kit::new("clang");
    let output = kit
        .driver(CC)
        .env("CONTECH_CLANG", "/nonexistent/clang")
        .arg("a.c")
        .output()
        .unwrap();
    let text = error(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text.contains("/nonexistent/clang") && text.contains("clang-22"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn a_static_link_is_made_dynamic_and_says_so() {
    let kit = Kit::new("static");
    let output = kit.driver(CC).args(["-static", "a.c"]).output().unwrap();
    let words = lines(&output);
    assert!(words.contains(&"-lcontech_rt".to_owned()), "{words:?}");
    assert!(!words.contains(&"-static".to_owned()), "{words:?}");
    let said = error(&output);
    assert!(said.contains("-static is left out"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn version_and_help_are_the_compilers_with_what_is_added() {
    let kit = Kit::new("version");
    for (word, added) in [("--version", "Contech "), ("--help", "--contech-explain")] {
        let output = kit.driver(CC).arg(word).output().unwrap();
        assert_eq!(output.status.code(), Some(7), "the compiler's own");
        let lines = lines(&output);
        let asked = lines.iter().position(|line| line == word);
        let told = lines.iter().rposition(|line| line.contains(added));
        assert!(asked.is_some() && told > asked, "{lines:?}");
    }
}

#[test]
fn an_unknown_contech_option_fails_before_clang_runs() {
    let kit = Kit::new("unknown");
    let output = kit
        .driver(CC)
        .args(["--contech-slow", "-c", "a.c"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        error(&output).contains("--contech-explain"),
        "{}",
        error(&output)
    );
    assert!(output.stdout.is_empty());
}

#[test]
fn help_names_every_option() {
    let kit = Kit::new("help");
    let output = kit.driver(CC).arg("--contech-help").output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    for option in [
        "--contech-mode=sync",
        "--contech-naive",
        "--contech-fast",
        "--contech-check",
        "--contech-explain",
        "CONTECH_OPTIONS",
    ] {
        assert!(text.contains(option), "{option}");
    }
}

#[test]
fn a_link_without_the_openmp_library_names_its_package() {
    // This compiler knows no folder of the library: it answers with the name.
    let kit = Kit::new("openmp");
    std::fs::write(kit.folder.join("text"), "#!/bin/sh\necho libomp.so\n").unwrap();
    let mut install = Command::new("install");
    let (text, clang) = (kit.folder.join("text"), kit.folder.join("clang"));
    install.args(["-m", "755"]).arg(text).arg(clang);
    assert!(install.status().unwrap().success());
    let run = |words: &[&str]| {
        let mut driver = kit.driver(CC);
        driver.env_remove("LIBRARY_PATH");
        driver
            .args(words)
            .current_dir(&kit.folder)
            .output()
            .unwrap()
    };
    let output = run(&["-fopenmp", "a.o"]);
    assert_eq!(output.status.code(), Some(1));
    let said = error(&output);
    assert!(said.contains("Debian: libomp-22-dev"), "{said}");
    for words in [
        &["-fopenmp", "-c", "a.c"][..],
        &["-fopenmp=libgomp", "a.o"],
        &["-fopenmp", "-fno-openmp", "a.o"],
    ] {
        assert!(run(words).status.success(), "{words:?}");
    }
    std::fs::write(kit.folder.join("libomp.so"), "").unwrap();
    for words in [
        &["-fopenmp", "-L.", "a.o"][..],
        &["-fopenmp", "-L", ".", "a.o"],
    ] {
        assert!(run(words).status.success(), "{words:?}");
    }
}
