//! Test suites of C++ libraries that throw often, from Debian's archive, built with `--contech-check`. Each finds no
//! fault in its library while it is recorded, and both forms of the recording agree.
//!
//! Only the sources that say something about exceptions are built, since most of the time goes to the compiler.

mod real;

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};
use contech_tests::debian;
use contech_tests::random::check::compare;
use contech_tests::recording::Recording;
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;
use real::Source;

/// A suite, and what it prints when all is well.
struct Suite {
    /// `$CXX` is the driver under test, and `$PLAIN` is the compiler alone.
    source: Source,
    says: &'static str,
}

const SUITES: [Suite; 2] = [
    // A parser of expressions: a hundred of its six hundred expressions are wrong and throw through its whole stack.
    Suite {
        source: Source {
            name: "muparser",
            build: "echo '#include \"muParserTest.h\"\nint main() { mu::Test::ParserTester all; all.Run(); }' > all.cpp
                for f in src/muParser.cpp src/muParser[BCEIT]*.cpp all.cpp; do echo $f; done |
                xargs -P2 -n1 $CXX --contech-check -std=c++17 -O1 -w -DMUPARSER_STATIC -Iinclude -c
                $CXX --contech-check *.o -o all",
            program: "all",
        },
        says: "Test passed (596 expressions)",
    },
    // Templates of one header: doctest catches what each wrong access throws.
    Suite {
        source: Source {
            name: "nlohmann-json3",
            build: "flags='-std=c++17 -w -Iinclude -Itests/thirdparty/doctest'
                $PLAIN $flags -O0 -c tests/src/unit.cpp -o unit.o
                $CXX --contech-check $flags -O1 -c tests/src/unit-reference_access.cpp -o access.o
                $CXX --contech-check unit.o access.o -o access",
            program: "access",
        },
        says: "0 failed",
    },
];

fn main() {
    real::main(
        (&SUITES, 2),
        |suite| &suite.source,
        trial,
        "both_sources_were_fetched",
    );
}

fn trial(suite: &Suite) -> Result<()> {
    let scratch = Scratch::new(&format!("suites/{}", suite.source.name))?;
    let tree = debian::source(suite.source.name, &debian::cache())?;
    let (checked, plain) = (Toolchain::contech(), Toolchain::native());
    let compilers: [(&str, &Path); 2] = [
        ("CXX", checked.compiler(true)),
        ("PLAIN", plain.compiler(true)),
    ];
    let program = suite
        .source
        .build(&tree, &scratch.join("tree"), &checked, &compilers)?;
    let recording = Recording::of(&mut Command::new(program), &scratch.join("traces"))?;
    let said = recording.run.clone().ok()?;
    if !said.out().contains(suite.says) || !said.err().is_empty() {
        bail!("the suite did not say {:?}: {said}", suite.says);
    }
    let mut blocks = 0;
    for trace in &recording.traces {
        blocks += compare(trace, &trace.with_extension("tg"))?;
    }
    if blocks < 10_000 {
        bail!("hardly anything was compared: {blocks} blocks");
    }
    scratch.done();
    Ok(())
}
