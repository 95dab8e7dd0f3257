//! `prices update`: lists from files and from a server on this machine, good, slow, cut short and hostile.

use super::{breakeven, said};
use assert_cmd::Command;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const LIST: &str = "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size\n\
                    L4-1,US-TX,0.11,8,48,1,L4,24,False,\nH100-2,EU-RO,5.18,32,188,2,H100NVL,94,False,\n";

/// What serves one connection, which has asked for something.
type Serve = fn(&mut TcpStream, &str);

/// A server that treats every connection so, for as long as the test runs.
fn server(serve: Serve) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let asked = asked(&mut stream);
            serve(&mut stream, &asked);
        }
    });
    address
}

/// The head of a request.
fn asked(stream: &mut TcpStream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

fn answer(stream: &mut TcpStream, status: &str, body: &[u8], length: usize) {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body);
}

/// `prices` with prices of its own, which no proxy of this machine keeps from it.
fn prices(place: &Path, arguments: &[&str]) -> Command {
    let mut command = breakeven();
    for proxy in ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy"] {
        command.env_remove(proxy);
    }
    command.env("BREAKEVEN_PRICES", place).arg("prices").args(arguments);
    command
}

fn update(place: &Path, from: &str) -> String {
    said(&mut prices(place, &["update", "--provider", "RunPod", "--timeout", "2", "--from", from]))
}

#[test]
fn a_list_from_a_server_lies_on_top() {
    let folder = TempDir::new().unwrap();
    let place = folder.path().join("deep/prices.csv");
    let address = server(|stream, _| answer(stream, "200 OK", LIST.as_bytes(), LIST.len()));
    let from = format!("http://{address}/gpus.csv");
    let first = update(&place, &from);
    assert!(first.starts_with("exit 0\n") && first.contains("(gpuhunt)") && first.contains("2 new"), "{first}");
    let second = update(&place, &from);
    assert!(second.contains("0 new, 0 changed, 2 as before"), "{second}");
    let list = said(&mut prices(&place, &["l4"]));
    assert!(list.contains("L4-1") && list.contains(&from), "{list}");
    // Estimates take it too, and the server is not asked again.
    let mut estimate = breakeven();
    estimate.env("BREAKEVEN_PRICES", &place).args(["estimate", "--matmul", "8000", "--gpu", "l4", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&estimate.output().unwrap().stdout).unwrap();
    assert_eq!(json["estimates"][0]["price"]["usd_per_h"], 0.11);
    let none = said(&mut prices(Path::new(""), &["l4"]));
    assert!(!none.contains("L4-1"), "{none}");
}

#[test]
fn what_goes_wrong_changes_nothing() {
    let folder = TempDir::new().unwrap();
    let place = folder.path().join("prices.csv");
    std::fs::write(folder.path().join("list.csv"), LIST).unwrap();
    let good = update(&place, folder.path().join("list.csv").to_str().unwrap());
    assert!(good.starts_with("exit 0\n"), "{good}");
    let before = std::fs::read(&place).unwrap();
    let serves: [(Serve, &str); 7] = [
        (|stream, _| answer(stream, "404 Not Found", b"", 0), "404"),
        // Cut short.
        (|stream, _| answer(stream, "200 OK", &LIST.as_bytes()[..90], LIST.len()), "cannot fetch"),
        // Never ends.
        (|_, _| std::thread::sleep(Duration::from_secs(20)), "cannot fetch"),
        (|stream, _| answer(stream, "200 OK", b"<html>no list</html>", 20), "no price list that is known"),
        (|stream, _| answer(stream, "200 OK", &[0x1f, 0x8b, 0, 0], 4), "gzip"),
        (|stream, _| answer(stream, "200 OK", &[0xff; 100], 100), "not text"),
        (
            |stream, _| {
                let _ = stream
                    .write_all(b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n");
            },
            "cannot fetch",
        ),
    ];
    for (serve, told) in serves {
        let started = Instant::now();
        let text = update(&place, &format!("http://{}/gpus.csv", server(serve)));
        assert!(text.starts_with("exit 2\n--- stderr\nerror: ") && text.contains(told), "{told}: {text}");
        assert!(started.elapsed() < Duration::from_secs(15), "{told}");
        assert_eq!(std::fs::read(&place).unwrap(), before, "{told}");
    }
    let plain = update(&place, "http://example.org/gpus.csv");
    assert!(plain.contains("does not begin with https://"), "{plain}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left behind");
}

#[test]
fn a_proxy_is_taken_from_the_environment() {
    let folder = TempDir::new().unwrap();
    let place = folder.path().join("prices.csv");
    // The proxy is asked for the way to a server that is not there, and plays it.
    let proxy = server(|stream, asked_for| {
        if asked_for.starts_with("CONNECT ") {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            asked(stream);
        }
        answer(stream, "200 OK", LIST.as_bytes(), LIST.len());
    });
    let arguments = ["update", "--provider", "RunPod", "--timeout", "5", "--from", "http://localhost:9/gpus.csv"];
    let text = said(prices(&place, &arguments).env("ALL_PROXY", format!("http://{proxy}")));
    assert!(text.starts_with("exit 0\n") && text.contains("2 new"), "{text}");
    let direct = said(&mut prices(&place, &arguments));
    assert!(direct.starts_with("exit 2\n"), "{direct}");
}

/// Five megabytes take less than a second (and ten times that where the machine is busy and the build is not optimised).
#[test]
fn a_large_list_is_read_at_once() {
    let folder = TempDir::new().unwrap();
    let place = folder.path().join("prices.csv");
    let address = server(|stream, _| {
        let line = |n: usize| format!("L4-{n},region-{},0.{},8,48,1,L4,24,False,\n", n % 50, 100 + n % 800);
        let head = LIST.lines().next().unwrap().to_owned() + "\n";
        let body: String = std::iter::once(head).chain((0..130_000).map(line)).collect();
        assert!(body.len() > 5_000_000, "{}", body.len());
        answer(stream, "200 OK", body.as_bytes(), body.len());
    });
    let arguments = ["update", "--provider", "RunPod", "--from", &format!("http://{address}/x.csv")];
    let text = said(&mut prices(&place, &arguments));
    assert!(text.contains("130000 new"), "{text}");
}

#[test]
fn a_file_of_prices_that_is_no_list_is_told() {
    let folder = TempDir::new().unwrap();
    let place = folder.path().join("prices.csv");
    std::fs::write(&place, "garbage").unwrap();
    let text = said(&mut prices(&place, &["l4"]));
    assert!(text.starts_with("exit 2\n") && text.contains("prices update"), "{text}");
    let mut without = breakeven();
    without.env("BREAKEVEN_PRICES", "").args(["prices", "l4"]).assert().success();
}
