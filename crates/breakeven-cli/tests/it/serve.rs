//! `serve`: the same answers as the other commands, and a clean end.

use super::{breakeven, said, says};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The command, serving.
struct Serving {
    child: Child,
    /// `127.0.0.1:PORT`.
    at: String,
}

impl Serving {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_breakeven"));
        command.arg("serve").args(arguments).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        // On the machine of `says`.
        command.env("BREAKEVEN_CPU", "");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let at =
            line.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/\n")).expect("the address").to_owned();
        Self { child, at }
    }

    /// The body of the answer.
    fn ask(&self, request: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.at).unwrap();
        let head = format!("Host: {}\r\nConnection: close\r\nContent-Type: application/json", self.at);
        write!(stream, "{request} HTTP/1.1\r\n{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{text}");
        body.to_owned()
    }

    fn end(mut self, signal: Signal) -> Option<i32> {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

#[test]
fn the_digits_are_the_commands() {
    let serving = Serving::start(&["--no-open"]);
    let command =
        says(&["estimate", "--flops", "10 TFLOP", "--data", "1GB", "--cpu-rate", "400GFLOP/s", "--format", "json"]);
    let numbers = json!({ "numbers": { "flops": "10 TFLOP", "data": "1GB", "cpu_rate": "400GFLOP/s" } });
    assert_eq!(format!("exit 0\n--- stdout\n{}", serving.ask("POST /api/v1/estimate", &numbers.to_string())), command);
    let heat = "../../docs/examples/heat.breakeven.json";
    let command = says(&["show", heat, "--gpu", "l4,h100", "--region", "france", "--format", "json"]);
    let workload = std::fs::read_to_string(heat).unwrap();
    let question = format!(r#"{{"workload": {workload}, "options": {{"gpu": ["l4", "h100"], "region": "france"}}}}"#);
    assert_eq!(format!("exit 0\n--- stdout\n{}", serving.ask("POST /api/v1/estimate", &question)), command);
    let read =
        |text: &str| serde_json::from_str::<Value>(text.strip_prefix("exit 0\n--- stdout\n").unwrap_or(text)).unwrap();
    let table = "op,m,n,k,h\nmatmul,512,64,32,\nsoftmax,,,,4096\n";
    let command = said(breakeven().args(["kernels", "-", "--gpu", "l4,t4", "--format", "json"]).write_stdin(table));
    let rows = json!([{ "op": "matmul", "m": 512, "n": 64, "k": 32, "h": null },
                      { "op": "softmax", "m": null, "n": null, "k": null, "h": 4096 }]);
    let question = json!({ "rows": rows, "gpu": ["l4", "t4"] }).to_string();
    assert_eq!(read(&serving.ask("POST /api/v1/kernels", &question)), read(&command));
    assert_eq!(read(&serving.ask("GET /api/v1/gpus", "")), read(&says(&["gpus", "--format", "json"])));
    assert_eq!(serving.ask("GET /", ""), breakeven_page::PAGE);
}

#[test]
fn signals_end_it_well() {
    for signal in [Signal::INT, Signal::TERM] {
        let serving = Serving::start(&["--host", "localhost"]);
        // One who asks for nothing does not hold it up.
        let _idle = TcpStream::connect(&serving.at).unwrap();
        assert_eq!(serving.end(signal), Some(0));
    }
}

#[test]
fn a_display_gets_the_browser_and_other_networks_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let (opener, opened) = (folder.path().join("xdg-open"), folder.path().join("opened"));
    std::fs::write(&opener, format!("#!/bin/sh\necho \"$@\" > {0}.part; mv {0}.part {0}\n", opened.display())).unwrap();
    std::fs::copy(&opener, folder.path().join("open")).unwrap();
    for name in ["xdg-open", "open"] {
        std::fs::set_permissions(folder.path().join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_breakeven"));
    let path = format!("{}:/bin:/usr/bin", folder.path().display());
    command.args(["serve", "--host", "0.0.0.0"]).env("PATH", path).env("DISPLAY", ":0");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while !opened.exists() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(line.starts_with("http://127.0.0.1:"), "{line}");
    assert_eq!(std::fs::read_to_string(&opened).unwrap(), line);
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert!(told.starts_with("warning: 0.0.0.0 is not loopback"), "{told}");
}

#[test]
fn places_where_it_cannot_listen() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    assert_eq!(
        says(&["serve", "--no-open", "--port", &port]),
        format!(
            "exit 2\n--- stderr\nerror: port {port} of 127.0.0.1 is in use\n hint: leave out --port: a free one is taken\n"
        )
    );
    insta::assert_snapshot!(says(&["serve", "--no-open", "--host", "192.0.2.1"]), @"
    exit 2
    --- stderr
    error: this machine has no address 192.0.2.1
     hint: 127.0.0.1 is for this machine alone, 0.0.0.0 for every network it is in
    ");
    for bad in [["--port", "70000"], ["--port", "-1"], ["--port", "http"], ["--host", "no such host"], ["--host", ""]] {
        let text = says(&["serve", "--no-open", bad[0], bad[1]]);
        assert!(text.starts_with("exit 2\n--- stderr\nerror: "), "{text}");
    }
}
