//! What bounds the server.

use breakeven::request::Machine;
use std::net::IpAddr;
use std::time::Duration;

/// Limits, and who may ask. [`Settings::new`] has those that `docs/api.md` lists.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which `Host` a request may name.
    pub hosts: Hosts,
    /// Today's date as `YYYY-MM-DD`, for requests that have none.
    pub today: fn() -> String,
    /// This machine, for requests that name none: numbers are compared with its CPU, as the command does.
    pub machine: Option<Machine>,
    /// Bytes of one body.
    pub body: usize,
    /// Bytes of all bodies that are held at one time.
    pub bodies: usize,
    /// Bytes of one request's headers, and as many of its path.
    pub headers: usize,
    /// From the head of a request to its answer.
    pub time: Duration,
    /// For the head of a request; also how long a connection may be idle.
    pub head_time: Duration,
    /// Connections at one time; more wait to be accepted.
    pub connections: usize,
    /// Requests that the engine works on at one time; more wait for their turn.
    pub workers: usize,
}

impl Settings {
    /// The usual limits.
    pub fn new(hosts: Hosts, today: fn() -> String) -> Self {
        Self {
            hosts,
            today,
            machine: None,
            body: 32 << 20,
            bodies: 512 << 20,
            headers: 16 << 10,
            time: Duration::from_secs(30),
            head_time: Duration::from_secs(10),
            connections: 512,
            workers: std::thread::available_parallelism().map_or(2, usize::from),
        }
    }
}

/// Names under which a request may call the server. A page of another site whose name was made to point here (DNS
/// rebinding) sends its own name, and is refused.
#[derive(Clone, Debug)]
pub struct Hosts {
    names: Vec<String>,
    any_address: bool,
}

impl Hosts {
    /// Those for a server that listens on `address`: `localhost`, loopback addresses and the address itself; beyond
    /// loopback also every IP address, for no name was asked for it, and the machine's own `names`.
    pub fn new(address: IpAddr, names: &[String]) -> Self {
        let mut allowed = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned()];
        allowed.push(match address {
            IpAddr::V4(v4) => v4.to_string(),
            IpAddr::V6(v6) => format!("[{v6}]"),
        });
        let any_address = !address.is_loopback();
        if any_address {
            allowed.extend(names.iter().map(|name| name.to_ascii_lowercase()));
        }
        Self { names: allowed, any_address }
    }

    /// Whether `host`, as a `Host` header has it (`localhost:8000`), is one of ours.
    pub(crate) fn allow(&self, host: &str) -> bool {
        let name = without_port(host).to_ascii_lowercase();
        let address = || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        self.names.contains(&name) || (self.any_address && address())
    }
}

/// `[::1]:80` is `[::1]`, `localhost:80` is `localhost`.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => {
            match port.bytes().all(|b| b.is_ascii_digit()) {
                true => name,
                false => host,
            }
        }
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_point_here_by_trickery_are_refused() {
        let local = Hosts::new("127.0.0.1".parse().unwrap(), &["box.lan".into()]);
        for host in ["localhost", "LOCALHOST:8000", "127.0.0.1:1", "[::1]", "[::1]:8000"] {
            assert!(local.allow(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.nip.io:80",
            "box.lan",
            "10.0.0.1",
            "::1",
            "localhost:x",
            "localhost@evil",
            "[::1",
            "[::1]evil",
            "127.0.0.1:80:80",
        ] {
            assert!(!local.allow(host), "{host}");
        }
        let open = Hosts::new("0.0.0.0".parse().unwrap(), &["Box.lan".into()]);
        for host in ["localhost", "box.lan:80", "10.0.0.1", "[fe80::1]:80"] {
            assert!(open.allow(host), "{host}");
        }
        assert!(!open.allow("evil.example"));
    }
}
