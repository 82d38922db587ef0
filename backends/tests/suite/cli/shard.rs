//! One analysis by several processes.

use std::fs;

use crate::folder::Folder;

#[test]
fn a_share_that_is_missing_damaged_or_of_another_plan_is_named_and_done_again() {
    let folder = Folder::new();
    for (plan, ways) in [("one", 1), ("other", 2)] {
        folder.ok(&format!(
            "shard plan {plan} --workers 2 --graph two.tg cache --sizes 1K --ways {ways}"
        ));
        folder.ok(&format!("shard run {plan} 1"));
    }
    let said = folder.fails("shard merge one");
    assert!(said.contains("share 2 is missing") && said.contains("shard run one 2"), "{said}");
    folder.ok("shard run one 2");
    let merged = folder.ok("shard merge one");
    let share = folder.path("one/1.share");
    let good = fs::read(&share).unwrap();
    // Nothing is done twice.
    let before = fs::metadata(&share).unwrap().modified().unwrap();
    folder.ok("shard run one 1");
    assert_eq!(fs::metadata(&share).unwrap().modified().unwrap(), before);
    let foreign = fs::read(folder.path("other/1.share")).unwrap();
    let second = fs::read(folder.path("one/2.share")).unwrap();
    let mut newer = good.clone();
    newer[8] += 1;
    let mut cases = vec![
        (foreign, "another plan"),
        (second, "another share"),
        (newer, "of this version"),
        (Vec::new(), "of this version"),
    ];
    cases.extend((40..good.len()).map(|at| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        (bytes, "damaged")
    }));
    cases.push((good[..good.len() - 1].to_vec(), "damaged"));
    for (bytes, reason) in cases {
        fs::write(&share, bytes).unwrap();
        let said = folder.fails("shard merge one");
        assert!(said.contains("1.share") && said.contains(reason), "{said}");
    }
    folder.ok("shard run one 1");
    assert_eq!(fs::read(&share).unwrap(), good);
    assert_eq!(folder.ok("shard merge one"), merged);
}

#[test]
fn what_cannot_be_divided_or_has_changed_is_refused() {
    let folder = Folder::new();
    for (line, reason) in [
        (
            "shard plan p --workers 2 --graph two.tg races",
            "races cannot be divided; cache, workspan can",
        ),
        ("shard plan p --workers 2 --graph none.tg cache", "cannot find the graph none.tg"),
        ("shard plan p --workers 2 --graph two.tg cache --size 1", "--size"),
        ("shard run p 1", "make it with shard plan"),
    ] {
        let said = folder.fails(line);
        assert!(said.contains(reason), "{line}: {said}");
    }
    folder.ok("shard plan p --workers 3 --graph two.tg workspan");
    let plan = folder.path("p/plan.json");
    let own = fs::read_to_string(&plan).unwrap();
    let version = format!("\"tools\": \"{}\"", env!("CARGO_PKG_VERSION"));
    for (from, to) in
        [(version.as_str(), "\"tools\": \"0.0.7\""), ("\"format\": ", "\"format\": 9")]
    {
        assert!(own.contains(from), "{own}");
        fs::write(&plan, own.replace(from, to)).unwrap();
        for step in ["run p 1", "merge p"] {
            let said = folder.fails(&format!("shard {step}"));
            assert!(said.contains("let all workers have one version"), "{said}");
        }
    }
    fs::write(&plan, &own).unwrap();
    // No worker leaves half of a share.
    let said = folder.full(0, "shard run p 1");
    assert!(said.contains("cannot write p/1.share") && said.contains("File too large"), "{said}");
    assert_eq!(fs::read_dir(folder.path("p")).unwrap().count(), 1);
    let said = folder.fails("shard run p 4");
    assert!(said.contains("the plan has 1 to 3"), "{said}");
    let mut graph = fs::read(folder.path("two.tg")).unwrap();
    graph.push(0);
    fs::write(folder.path("two.tg"), graph).unwrap();
    let said = folder.fails("shard run p 1");
    assert!(said.contains("is not the graph that the plan was made for"), "{said}");
}
