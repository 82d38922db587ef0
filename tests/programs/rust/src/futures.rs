//! An executor of the program's own: a waker from another thread wakes a future.
// MODE: golden
// COUNT: thread_create 1

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

struct Unparks(Thread);

impl Wake for Unparks {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[derive(Default)]
struct Shared {
    value: Option<Vec<u64>>,
    waker: Option<Waker>,
}

struct Later(Arc<Mutex<Shared>>);

impl Future for Later {
    type Output = Vec<u64>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut shared = self.0.lock().unwrap();
        match shared.value.take() {
            Some(value) => Poll::Ready(value),
            None => {
                shared.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

async fn sum(later: Later) -> u64 {
    later.await.iter().sum()
}

pub(crate) fn main() {
    let shared = Arc::new(Mutex::new(Shared::default()));
    let later = Later(Arc::clone(&shared));
    let thread = thread::spawn(move || {
        let mut shared = shared.lock().unwrap();
        shared.value = Some((0..10).collect());
        if let Some(waker) = shared.waker.take() {
            waker.wake();
        }
    });
    let waker = Waker::from(Arc::new(Unparks(thread::current())));
    let mut future = pin!(sum(later));
    let result = loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => break result,
            Poll::Pending => thread::park(),
        }
    };
    thread.join().unwrap();
    println!("{result}");
}
