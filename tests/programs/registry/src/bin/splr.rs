//! A solver: seven pigeons do not fit into six holes, and a chain of implications has one solution.

use splr::Certificate;

fn main() {
    let (pigeons, holes) = (7, 6);
    let sits = |pigeon: i32, hole: i32| pigeon * holes + hole + 1;
    let mut clauses: Vec<Vec<i32>> = (0..pigeons)
        .map(|p| (0..holes).map(|h| sits(p, h)).collect())
        .collect();
    for hole in 0..holes {
        for one in 0..pigeons {
            clauses.extend((0..one).map(|other| vec![-sits(one, hole), -sits(other, hole)]));
        }
    }
    println!("{}", answer(clauses));
    let chain = (1..400)
        .map(|i| vec![-i, i + 1])
        .chain([vec![1], vec![-3, -5, 7]]);
    println!("{}", answer(chain.collect()));
}

fn answer(clauses: Vec<Vec<i32>>) -> String {
    match Certificate::try_from(clauses) {
        Ok(Certificate::SAT(values)) => format!(
            "{} of {} are true",
            values.iter().filter(|&&v| v > 0).count(),
            values.len()
        ),
        Ok(Certificate::UNSAT) => "no solution".to_owned(),
        Err(error) => format!("{error}"),
    }
}
