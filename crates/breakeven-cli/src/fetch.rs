//! The one place that opens a connection: a text from an address, on the user's word.

use crate::failure::Failure;
use breakeven::hardware::lists::MAX_BYTES;
use std::io::Read;
use std::time::Duration;

/// Whether that names an address, not a file.
pub(crate) fn is_address(from: &str) -> bool {
    from.starts_with("https://") || from.starts_with("http://")
}

/// Whether the address is of this machine: only there is a connection that nobody vouches for allowed.
fn is_loopback(address: &str) -> bool {
    let host = address.trim_start_matches("http://").split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    matches!(host, "localhost" | "127.0.0.1" | "[::1]") && !address.contains('@')
}

/// The text at that address, gzip unpacked, within so many seconds; through the proxy that the environment names.
///
/// # Errors
/// An address without TLS, no answer in time, an answer that is no success, is cut short, too long or no text.
pub(crate) fn text(address: &str, seconds: u64) -> Result<String, Failure> {
    let loopback = is_loopback(address);
    let failed = |why: String, hint: &str| Failure::new("fetch", format!("cannot fetch {address}: {why}"), hint);
    if !address.starts_with("https://") && !loopback {
        return Err(failed(
            "it does not begin with https://".into(),
            "use https://, or save the list and name the file",
        ));
    }
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(Duration::from_secs(seconds)))
        .https_only(!loopback)
        .max_redirects(if loopback { 0 } else { 5 })
        .user_agent(concat!("breakeven/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let hint = "check the connection and the proxy (HTTPS_PROXY), or save the list and give it with --from";
    let mut answer = agent.get(address).call().map_err(|e| failed(e.to_string(), hint))?;
    if !answer.status().is_success() {
        return Err(failed(format!("it answers {}", answer.status()), "give the address that the list is at"));
    }
    let body = answer.body_mut().with_config().limit(MAX_BYTES as u64).read_to_vec();
    let body = body.map_err(|e| failed(e.to_string(), "try again; nothing was changed"))?;
    let mut plain = Vec::new();
    if body.starts_with(&[0x1f, 0x8b]) {
        let unpacked = flate2::read::MultiGzDecoder::new(&*body).take(MAX_BYTES as u64 + 1).read_to_end(&mut plain);
        unpacked.map_err(|_| failed("it is no whole gzip file".into(), "try again; nothing was changed"))?;
    } else {
        plain = body;
    }
    String::from_utf8(plain).map_err(|_| failed("it is not text".into(), "give the address of a price list"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_spoken_to_in_the_clear() {
        for address in ["http://127.0.0.1:80/x", "http://localhost/x", "http://[::1]:9/x"] {
            assert!(is_loopback(address), "{address}");
        }
        for address in ["http://example.org/127.0.0.1", "http://127.0.0.1@example.org/", "http://127.0.0.1.nip.io/"] {
            assert!(!is_loopback(address) && text(address, 1).is_err(), "{address}");
        }
        assert!(is_address("https://x") && !is_address("prices.csv"));
    }
}
