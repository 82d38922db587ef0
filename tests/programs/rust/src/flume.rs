//! Flume's channels: bounded, without a buffer, with several receivers, and with a wait for either of two.
// MODE: golden
// COUNT: thread_create 5

use std::thread;

pub(crate) fn main() {
    let (sends, receives) = flume::bounded::<Vec<u64>>(2);
    let (hands, handed) = flume::bounded::<Box<u64>>(0);
    let sum: u64 = thread::scope(|scope| {
        for i in 0..2u64 {
            let sends = sends.clone();
            scope.spawn(move || (0..30).for_each(|k| sends.send(vec![i, k]).unwrap()));
        }
        drop(sends);
        scope.spawn(move || (0..20).for_each(|k| hands.send(Box::new(k)).unwrap()));
        let takes: Vec<_> = (0..2)
            .map(|_| {
                let receives = receives.clone();
                scope.spawn(move || receives.iter().flatten().sum::<u64>())
            })
            .collect();
        let mut sum = 0;
        let mut open = true;
        while open {
            let next = flume::Selector::new()
                .recv(&handed, |got| got.map_or(None, |got| Some(*got)))
                .wait();
            match next {
                Some(got) => sum += got,
                None => open = false,
            }
        }
        sum + takes.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>()
    });
    println!("{sum}");
}
