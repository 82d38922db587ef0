//! Tasks of tokio ask one task for primes. It computes each answer itself, so they all wait for it.

use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};

struct Request {
    from: u64,
    answer: oneshot::Sender<u64>,
}

fn is_prime(number: u64) -> bool {
    !(2..number).any(|divisor| number.is_multiple_of(divisor)) // LOSS: producer
}

async fn server(mut requests: mpsc::Receiver<Request>) {
    while let Some(Request { from, answer }) = requests.recv().await {
        let prime = (from..).find(|number| is_prime(*number)).unwrap();
        answer.send(prime).unwrap();
    }
}

async fn client(name: usize, requests: mpsc::Sender<Request>) -> String {
    let mut said = String::new();
    for number in 0..100 {
        let (answer, answered) = oneshot::channel();
        let from = 40_000 + number * 100;
        requests.send(Request { from, answer }).await.unwrap();
        let prime = answered.await.unwrap(); // LOSS: producer
        for multiple in 1..300 {
            said += &format!("client {name}: {} ", prime * multiple);
        }
    }
    said
}

fn main() {
    Runtime::new().unwrap().block_on(async {
        let (requests, received) = mpsc::channel(8);
        tokio::spawn(server(received));
        let start = |name| tokio::spawn(client(name, requests.clone()));
        let clients: Vec<_> = (0..4).map(start).collect();
        for client in clients {
            println!("{}", client.await.unwrap().len());
        }
    });
}
