//! `breakeven serve`: the page and the API on this machine, until Ctrl-C.

use crate::args::ServeArgs;
use crate::failure::{Failure, Outcome, say, system_words};
use crate::{input, output};
use breakeven_server::{Hosts, Settings};
use std::io::{self, IsTerminal};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

/// Runs the command.
pub(crate) fn serve(args: &ServeArgs) -> Outcome {
    let (listener, address) = listen(args)?;
    if !address.ip().is_loopback() {
        say(&format!(
            "warning: {} is not loopback: whoever reaches this machine there can ask, unencrypted and without a password",
            address.ip()
        ));
    }
    let mut settings = Settings::new(Hosts::new(address.ip(), &names(args)), input::today);
    settings.machine = Some(input::machine());
    let url = format!("http://{}/", SocketAddr::new(reachable(address.ip()), address.port()));
    let ready = || {
        // Whoever reads our output may have had enough of it; the page is served all the same.
        let _ = output::write_to(None, format!("{url}\n").as_bytes());
        if io::stderr().is_terminal() {
            say("Ctrl-C stops it.");
        }
        if !args.no_open {
            open(&url);
        }
    };
    breakeven_server::run(listener, settings, ready)
        .map_err(|e| Failure::new("serve", format!("cannot serve: {}", system_words(&e)), "try again"))?;
    Ok(ExitCode::SUCCESS)
}

/// The socket, open.
fn listen(args: &ServeArgs) -> Result<(TcpListener, SocketAddr), Failure> {
    let (host, port) = (args.host.trim_matches(['[', ']']), args.port);
    let refused = |e: io::Error| {
        let (message, hint) = match e.kind() {
            io::ErrorKind::AddrInUse => {
                (format!("port {port} of {host} is in use"), "leave out --port: a free one is taken")
            }
            io::ErrorKind::PermissionDenied => (
                format!("port {port} of {host} is not for everybody: {}", system_words(&e)),
                "ports from 1024 on are; leave out --port and a free one is taken",
            ),
            io::ErrorKind::AddrNotAvailable => (
                format!("this machine has no address {host}"),
                "127.0.0.1 is for this machine alone, 0.0.0.0 for every network it is in",
            ),
            _ => (format!("cannot listen on {host}, port {port}: {}", system_words(&e)), "try --host 127.0.0.1"),
        };
        Failure::new("serve", message, hint)
    };
    let addresses: Vec<SocketAddr> = (host, port).to_socket_addrs().map_err(refused)?.collect();
    let listener = TcpListener::bind(addresses.as_slice()).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    Ok((listener, address))
}

/// What this machine is called.
fn names(args: &ServeArgs) -> Vec<String> {
    let own = rustix::system::uname().nodename().to_string_lossy().into_owned();
    vec![args.host.clone(), own]
}

/// Where a browser of this machine finds what listens on every address.
fn reachable(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(v4) if v4.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(v6) if v6.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        other => other,
    }
}

/// The browser, where there is a display to show it. The address has been said: nothing depends on this.
fn open(url: &str) {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let opener = match () {
        () if cfg!(target_os = "macos") => "open",
        () if set("DISPLAY") || set("WAYLAND_DISPLAY") => "xdg-open",
        () => return,
    };
    let mut command = Command::new(opener);
    // In a group of its own, so that the Ctrl-C that stops us leaves the browser alone.
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    if let Ok(mut child) = command.spawn() {
        std::thread::spawn(move || child.wait());
    }
}
