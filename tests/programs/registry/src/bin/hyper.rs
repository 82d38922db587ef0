//! A server and three clients of HTTP on the loopback address, as tasks of tokio.

use std::convert::Infallible;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

const CLIENTS: usize = 3;

#[tokio::main(worker_threads = 2)]
async fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let mut served = Vec::new();
        for _ in 0..CLIENTS {
            let (stream, _) = listener.accept().await.unwrap();
            let http = hyper::server::conn::http1::Builder::new();
            let connection = http.serve_connection(TokioIo::new(stream), service_fn(answer));
            served.push(tokio::spawn(async move { connection.await.unwrap() }));
        }
        for connection in served {
            connection.await.unwrap();
        }
    });
    let clients: Vec<_> = (0..CLIENTS)
        .map(|i| tokio::spawn(client(address, i)))
        .collect();
    for client in clients {
        println!("{}", client.await.unwrap());
    }
    server.await.unwrap();
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    Ok(Response::new(Full::new(
        format!("{path}: {} bytes", body.len()).into(),
    )))
}

async fn client(address: std::net::SocketAddr, number: usize) -> String {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .unwrap();
    let connection = tokio::spawn(async move { connection.await.unwrap() });
    let mut said = String::new();
    for part in 1..=5 {
        let body = Full::new(Bytes::from(vec![b'x'; part * 1000]));
        let request = Request::post(format!("/{number}/{part}"))
            .header("host", "here")
            .body(body)
            .unwrap();
        let response = sender.send_request(request).await.unwrap();
        said += &String::from_utf8_lossy(&response.into_body().collect().await.unwrap().to_bytes());
        said += "; ";
    }
    drop(sender);
    connection.await.unwrap();
    said
}
