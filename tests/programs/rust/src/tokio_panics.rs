//! A task that panics, and others that go on.
// MODE: golden

async fn all() {
    let bad = tokio::spawn(async {
        tokio::task::yield_now().await;
        panic!("on purpose");
    });
    let good = tokio::spawn(async { vec![1; 10].len() });
    println!("{}", bad.await.unwrap_err().is_panic());
    println!("{}", good.await.unwrap());
}

pub(crate) fn main() {
    super::on_both_runtimes(all);
    println!("done");
}
