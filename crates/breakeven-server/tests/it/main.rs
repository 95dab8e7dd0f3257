//! A running server against requests good, bad and hostile.

mod any_body;
mod document;
mod good;
mod hostile;

use breakeven_server::{Hosts, Settings, serve};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// A server on a free port, until it is dropped.
struct Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn start() -> Self {
        Self::with(|_| ())
    }

    /// With other limits.
    fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings::new(Hosts::new(Ipv4Addr::LOCALHOST.into(), &[]), || "2026-11-21".to_owned());
        change(&mut settings);
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                serve(listener, settings, async { drop(stopped.await) }).await;
            });
        });
        Self { address, stop: Some(stop), thread: Some(thread) }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    /// Sends these bytes as they are, and reads what comes until the server closes.
    fn raw(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect();
        // The server may have refused already.
        let _ = stream.write_all(bytes);
        Reply::read(stream)
    }

    fn get(&self, path: &str) -> Reply {
        self.raw(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes())
    }

    fn post(&self, path: &str, body: impl AsRef<[u8]>) -> Reply {
        self.post_as(path, "application/json", body.as_ref())
    }

    fn post_as(&self, path: &str, kind: &str, body: &[u8]) -> Reply {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {kind}\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        self.raw(&[head.as_bytes(), body].concat())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}

/// What came back.
#[derive(Debug)]
struct Reply {
    status: u16,
    head: String,
    body: String,
}

impl Reply {
    fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {read:?} {text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    fn header(&self, name: &str) -> &str {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: "))).unwrap_or("")
    }

    fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), "application/json", "{self:?}");
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The code of a refusal; it has words and a next step too.
    fn refused(&self) -> (u16, String) {
        let error = &self.json()["error"];
        assert!(
            !error["message"].as_str().unwrap().is_empty() && !error["hint"].as_str().unwrap().is_empty(),
            "{self:?}"
        );
        (self.status, error["code"].as_str().unwrap().to_owned())
    }
}
