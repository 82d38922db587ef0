//! Another executor than tokio, with its own threads: tasks, a lock, a channel, a timer, and a connection on loopback.

use std::sync::Arc;
use std::time::Duration;

use smol::Timer;
use smol::io::{AsyncReadExt as _, AsyncWriteExt as _};
use smol::lock::Mutex;
use smol::net::{TcpListener, TcpStream};

fn main() {
    smol::block_on(async {
        let sum = Arc::new(Mutex::new(0u64));
        let (to, from) = smol::channel::bounded(4);
        let tasks: Vec<_> = (0..8u64)
            .map(|i| {
                let (sum, to) = (sum.clone(), to.clone());
                smol::spawn(async move {
                    Timer::after(Duration::from_millis(i)).await;
                    *sum.lock().await += i;
                    to.send(i * i).await.unwrap();
                })
            })
            .collect();
        drop(to);
        let mut squares = 0;
        while let Ok(square) = from.recv().await {
            squares += square;
        }
        for task in tasks {
            task.await;
        }
        println!("{} {squares} {}", *sum.lock().await, echo().await);
    });
}

async fn echo() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = smol::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = [0; 5];
        stream.read_exact(&mut bytes).await.unwrap();
        stream.write_all(&bytes).await.unwrap();
    });
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"hello").await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    server.await;
    text
}
