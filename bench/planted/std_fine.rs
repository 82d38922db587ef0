//! Equal shares.
@PARTS@
fn main() {
    let threads = threads();
    std::thread::scope(|scope| {
        for t in 0..threads {
            scope.spawn(move || { // PLANTED: nothing
                for i in 0..2000 {
                    $noise(t);
                    std::hint::black_box($work(i, ~50000));
                }
            });
        }
    });
}
