//! The pages as they are served, and what every response says about itself.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use breakeven_page::{PAGE, REPORT};

/// What a response that is no page may do in a browser: nothing.
const NOTHING: &str = "default-src 'none'; frame-ancestors 'none'";

/// Headers of every response.
const ALWAYS: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// A page's own policy: the hashes of its inline script and style are made when the page is built, and stand in it
/// so that they hold from disk too.
fn policy(page: &'static str) -> &'static str {
    let meta = page.split_once("http-equiv=\"Content-Security-Policy\" content=\"");
    meta.and_then(|(_, rest)| rest.split_once('"')).map_or(NOTHING, |(policy, _)| policy)
}

/// The calculator.
pub(crate) fn page() -> Response {
    html(PAGE)
}

/// The report page, on which a workload file can be opened.
pub(crate) fn report() -> Response {
    html(REPORT)
}

fn html(page: &'static str) -> Response {
    let policy = format!("{}; frame-ancestors 'none'", policy(page));
    let mut response =
        ([(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")], Body::from(page))
            .into_response();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// JSON that nobody keeps.
pub(crate) fn json(text: impl Into<Body>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, NOTHING),
    ];
    (headers, text.into()).into_response()
}

/// Adds what every response has.
pub(crate) fn mark(headers: &mut HeaderMap) {
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_may_run_their_own_script_and_no_other() {
        for page in [PAGE, REPORT] {
            let policy = policy(page);
            assert!(policy.starts_with("default-src 'none';"), "{policy}");
            for kind in ["script-src", "style-src"] {
                assert!(policy.contains(&format!("; {kind} 'sha256-")), "{policy}");
            }
            for lax in ["'unsafe-inline'", "'unsafe-eval'", "*", "http:", "https:"] {
                assert!(!policy.contains(lax), "{policy}");
            }
        }
    }
}
