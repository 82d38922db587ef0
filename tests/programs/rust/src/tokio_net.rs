//! A server and clients on the loopback address.
// MODE: golden

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn answer(mut stream: TcpStream) {
    let mut bytes = [0; 64];
    loop {
        let n = stream.read(&mut bytes).await.unwrap();
        if n == 0 {
            return;
        }
        for byte in &mut bytes[..n] {
            *byte = byte.wrapping_add(1);
        }
        stream.write_all(&bytes[..n]).await.unwrap();
    }
}

async fn ask(address: SocketAddr, client: u8) -> u64 {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut sum = 0;
    for i in 0..10 {
        stream.write_all(&[client, i]).await.unwrap();
        let mut bytes = [0; 2];
        stream.read_exact(&mut bytes).await.unwrap();
        sum += u64::from(bytes[0]) + u64::from(bytes[1]);
    }
    sum
}

async fn all() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        for _ in 0..4 {
            tokio::spawn(answer(listener.accept().await.unwrap().0));
        }
    });
    let clients: Vec<_> = (0..4).map(|i| tokio::spawn(ask(address, i))).collect();
    let mut sum = 0;
    for client in clients {
        sum += client.await.unwrap();
    }
    server.await.unwrap();
    println!("{sum}");
}

pub(crate) fn main() {
    super::on_both_runtimes(all);
    println!("done");
}
