//! What must be refused, in words, by a server that goes on.

use super::{Reply, Server};
use breakeven_server::Settings;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

const ESTIMATE: &str = "/api/v1/estimate";
const GOOD: &str = r#"{"numbers": {"flops": "1 TFLOP"}, "options": {"gpu": ["l4"]}}"#;

/// The server answers as if nothing had been.
fn goes_on(server: &Server) {
    assert_eq!(server.post(ESTIMATE, GOOD).status, 200);
}

#[test]
fn bodies_that_are_no_request() {
    let server = Server::start();
    let deep = "[".repeat(1 << 20);
    let deep_key = format!(r#"{{"numbers": {}1{}}}"#, r#"{"flops":"#.repeat(1000), "}".repeat(1000));
    let long = format!(r#"{{"{}": 1}}"#, "x".repeat(10 << 20));
    for (body, status) in [
        ("", 400),
        ("{", 400),
        (r#"{"numbers": {"flops": "1 TF"#, 400),
        ("null", 400),
        ("[]", 400),
        ("{}", 400),
        (r#"{"numbers": {"flops": 1e400}}"#, 400),
        (r#"{"numbers": {"flops": NaN}}"#, 400),
        (r#"{"numbers": {"flops": -Infinity}}"#, 400),
        (r#"{"numbers": {"flops": true}}"#, 400),
        (r#"{"numbers": {"flosp": 1}}"#, 400),
        (r#"{"numbers": {"flops": 1, "flops": 2}}"#, 400),
        (r#"{"numbers": {"flops": 1}, "workload": {}}"#, 400),
        (r#"{"numbers": {"flops": 1}} {}"#, 400),
        (r#"{"workload": {"format": "breakeven.workload/1"}}"#, 400),
        (r#"{"numbers": {"flops": "12abc"}}"#, 422),
        (r#"{"numbers": {"flops": -1}}"#, 422),
        (r#"{"numbers": {"flops": 1}, "options": {"gpu": ["../../etc/passwd"]}}"#, 422),
        (r#"{"numbers": {"flops": 1}, "options": {"catalogue": "/etc/passwd"}}"#, 422),
        (deep.as_str(), 400),
        (deep_key.as_str(), 400),
        (long.as_str(), 400),
    ] {
        let reply = server.post(ESTIMATE, body);
        let shown = &body[..body.len().min(60)];
        assert_eq!((reply.refused().0, reply.status), (status, status), "{shown}: {reply:?}");
        assert!(reply.body.len() < 2000, "{shown}: {reply:?}");
    }
    let gpus =
        format!(r#"{{"numbers": {{"flops": 1}}, "options": {{"gpu": [{}"l4"]}}}}"#, r#""l4","#.repeat(1_000_000));
    assert_eq!(server.post(ESTIMATE, gpus).refused(), (422, "too-many-gpus".into()));
    assert_eq!(server.post(ESTIMATE, [b"{\"a\": \"".as_slice(), &[0xff, 0xfe], b"\"}"].concat()).refused().0, 400);
    for (rows, code) in [
        (r#"{"rows": []}"#, "table-header"),
        (r#"{"rows": [{"op": "add", "h": 1}]}"#, "table-gpu"),
        (r#"{"gpu": ["l4"], "rows": [{"op": "add", "h_kib": 1}]}"#, "table-header"),
        (r#"{"gpu": ["l4"], "rows": [{"op": "add", "h": 1, "note": 1}]}"#, "table-header"),
        (r#"{"gpu": ["zx81"], "rows": [{"op": "add", "h": 1}]}"#, "unknown-gpu"),
        (r#"{"gpu": ["l4"], "rows": [1]}"#, "bad-request"),
    ] {
        assert_eq!(server.post("/api/v1/kernels", rows).refused().1, code, "{rows}");
    }
    let many =
        format!(r#"{{"gpu": ["l4"], "rows": [{}{{"op": "add", "h": 1}}]}}"#, r#"{"op": "add"},"#.repeat(100_000));
    assert_eq!(server.post("/api/v1/kernels", many).refused(), (422, "too-many-rows".into()));
    goes_on(&server);
}

#[test]
fn a_workload_that_does_not_fit_together() {
    let server = Server::start();
    let workload = |ops: &str| {
        let body = format!(
            r#"{{"workload": {{"format": "breakeven.workload/1", "program": {{"name": "x", "wall_ns": 1}}, "ops": [{ops}]}}}}"#
        );
        server.post(ESTIMATE, body).refused()
    };
    let op = r#"{"site": 7, "name": "x", "op": "view", "dtype": "f32", "count": 1}"#;
    assert_eq!(workload(op), (422, "bad-workload".into()));
    assert_eq!(workload("1").0, 400);
}

#[test]
fn heads_that_are_refused() {
    let server = Server::start();
    let head = |lines: &str| server.raw(format!("{lines}\r\nConnection: close\r\n\r\n").as_bytes());
    let code = |lines: &str| head(lines).refused();
    let wrong = (403, "wrong-host".to_owned());
    assert_eq!(code("GET / HTTP/1.1\r\nHost: evil.example"), wrong);
    assert_eq!(code("GET / HTTP/1.1\r\nHost: localhost.evil.example"), wrong);
    assert_eq!(code("GET http://evil.example/ HTTP/1.1\r\nHost: localhost"), wrong);
    assert_eq!(code("GET / HTTP/1.1\r\nX: y"), (400, "no-host".into()));
    assert_eq!(code("GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost"), (400, "no-host".into()));
    assert_eq!(
        code(&format!("GET / HTTP/1.1\r\nHost: localhost\r\nCookie: {}", "x".repeat(20_000))),
        (431, "headers-too-large".into())
    );
    // Beyond this, what reads HTTP refuses by itself.
    for huge in [format!("X: {}", "x".repeat(1 << 20)), (0..500).map(|i| format!("X-{i}: y\r\n")).collect()] {
        assert_eq!(head(&format!("GET / HTTP/1.1\r\nHost: localhost\r\n{huge}")).status, 431);
    }
    assert_eq!(
        code(&format!("GET /{} HTTP/1.1\r\nHost: localhost", "x".repeat(20_000))),
        (414, "path-too-long".into())
    );
    assert_eq!(head("\u{0}\u{1}\u{2}").status, 400);
    for path in [
        "/../../etc/passwd",
        "/..%2f..%2fetc/passwd",
        "/assets/page.html",
        "/api/v1/",
        "//",
        "/%00",
        "/api/v1/gpus/../../x",
    ] {
        let reply = server.get(path);
        assert_eq!(reply.refused(), (404, "no-such-path".into()), "{path}");
    }
    let not_so = server.get(ESTIMATE);
    assert_eq!((not_so.refused(), not_so.header("allow")), ((405, "wrong-method".into()), "post"));
    assert_eq!(code("BREW / HTTP/1.1\r\nHost: localhost").0, 405);
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=latin-1",
        "",
        "application/jsonp",
    ] {
        assert_eq!(server.post_as(ESTIMATE, kind, GOOD.as_bytes()).refused(), (415, "wrong-type".into()), "{kind}");
    }
    assert_eq!(server.post_as(ESTIMATE, "application/json\r\nContent-Encoding: gzip", b"\x1f\x8b").refused().0, 415);
    assert_eq!(server.post_as(ESTIMATE, "Application/JSON; charset=\"UTF-8\"", GOOD.as_bytes()).status, 200);
    goes_on(&server);
}

#[test]
fn bodies_that_are_too_large_whether_they_say_so_or_not() {
    let server = Server::with(|s| s.body = 1 << 20);
    let large = vec![b' '; 3 << 20];
    assert_eq!(server.post(ESTIMATE, &large).refused(), (413, "too-large".into()));
    let mut chunked = format!(
        "POST {ESTIMATE} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    .into_bytes();
    for _ in 0..3 {
        chunked.extend_from_slice(b"100000\r\n");
        chunked.extend_from_slice(&large[..1 << 20]);
        chunked.extend_from_slice(b"\r\n");
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    assert_eq!(server.raw(&chunked).refused(), (413, "too-large".into()));
    // Who asks first is told before sending anything.
    let asks = format!(
        "POST {ESTIMATE} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n"
    );
    let begun = Instant::now();
    assert_eq!(server.raw(asks.as_bytes()).refused(), (413, "too-large".into()));
    assert!(begun.elapsed() < Duration::from_secs(5));
    goes_on(&server);
    let crowded = Server::with(|s| s.bodies = 100);
    let reply = crowded.post(ESTIMATE, format!("{GOOD}{}", " ".repeat(200)));
    assert_eq!((reply.refused(), reply.header("retry-after")), ((503, "busy".into()), "1"));
    goes_on(&crowded);
}

/// Limits that a test can wait for.
fn hasty(s: &mut Settings) {
    s.time = Duration::from_millis(300);
    s.head_time = Duration::from_millis(300);
}

#[test]
fn who_is_too_slow_is_not_waited_for() {
    let server = Server::with(hasty);
    let head = format!(
        "POST {ESTIMATE} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\nContent-Type: application/json\r\n\r\n{{"
    );
    let reply = server.raw(head.as_bytes());
    assert_eq!((reply.refused(), reply.header("connection")), ((408, "too-slow".into()), "close"));
    // Half a head, and a connection that says nothing: closed.
    for bytes in [b"GET / HT".as_slice(), b""] {
        let mut stream = server.connect();
        stream.write_all(bytes).unwrap();
        assert!(stream.read_to_end(&mut Vec::new()).is_ok());
    }
    // A body that ends before its length.
    let mut stream = server.connect();
    stream.write_all(head.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(Reply::read(stream).refused(), (400, "bad-body".into()));
    goes_on(&server);
}

#[test]
fn more_connections_than_there_is_room_for_wait_for_their_turn() {
    let server = Server::with(|s| {
        s.connections = 2;
        s.head_time = Duration::from_millis(500);
    });
    let idle: Vec<_> = (0..2).map(|_| server.connect()).collect();
    goes_on(&server);
    drop(idle);
}
