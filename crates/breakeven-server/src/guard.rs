//! Before a route sees a request: who asks, how much, and the whole body in memory within its limits.

use crate::page;
use crate::refusal::Refusal;
use crate::routes::App;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout, timeout_at};

/// When a request has to be answered.
#[derive(Clone, Copy)]
pub(crate) struct Until(pub(crate) Instant);

/// Refuses, or reads the body and hands the request on.
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let until = Instant::now() + app.settings.time;
    let (mut parts, body) = request.into_parts();
    let mut response = match read(&app, &parts, body, until).await {
        // What the body takes of the common allowance is given back with the answer.
        Ok((bytes, _held)) => {
            parts.extensions.insert(Until(until));
            next.run(Request::from_parts(parts, Body::from(bytes))).await
        }
        Err(refusal) => refusal.into_response(),
    };
    page::mark(response.headers_mut());
    response
}

/// The body, and its part of what all bodies may take.
async fn read(
    app: &App,
    parts: &Parts,
    mut body: Body,
    until: Instant,
) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Refusal> {
    if let Err(refusal) = allowed(app, parts) {
        // A client that is still writing would not see the answer.
        if !parts.headers.contains_key(header::EXPECT) {
            let _ = timeout(LAST_WORDS, drain(&mut body, 4 * app.settings.body)).await;
        }
        return Err(refusal);
    }
    let (mut bytes, mut held) = (Vec::new(), None::<OwnedSemaphorePermit>);
    loop {
        let frame = match timeout_at(until, body.frame()).await {
            Ok(None) => return Ok((bytes.into(), held)),
            Ok(Some(frame)) => frame,
            Err(_) => {
                let message = format!("the body was not there in {} s", app.settings.time.as_secs());
                let hint = "send it in one go";
                return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "too-slow", message, hint));
            }
        };
        let frame = frame.map_err(|_| {
            let message = "the body ends before its time, or is not sent as HTTP has it";
            Refusal::new(StatusCode::BAD_REQUEST, "bad-body", message, "check Content-Length and Transfer-Encoding")
        })?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > app.settings.body {
            let _ = timeout(LAST_WORDS, drain(&mut body, 4 * app.settings.body)).await;
            return Err(too_large(app));
        }
        let Ok(part) = Arc::clone(&app.bodies).try_acquire_many_owned(data.len() as u32) else {
            return Err(Refusal::busy("too many large requests at one time"));
        };
        match &mut held {
            Some(held) => held.merge(part),
            none => *none = Some(part),
        }
        bytes.extend_from_slice(&data);
    }
}

/// How long a client that was refused may go on writing before it reads why.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Throws away what comes, up to `most` bytes.
async fn drain(body: &mut Body, most: usize) {
    let mut seen = 0;
    while let Some(Ok(frame)) = body.frame().await {
        seen += frame.data_ref().map_or(0, Bytes::len);
        if seen > most {
            return;
        }
    }
}

/// What can be told from the head of a request.
fn allowed(app: &App, parts: &Parts) -> Result<(), Refusal> {
    let headers = &parts.headers;
    let size: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if size > app.settings.headers {
        let message = format!("the headers have {size} bytes; at most {} are read", app.settings.headers);
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        return Err(Refusal::new(status, "headers-too-large", message, "send no cookies; there is nothing to keep"));
    }
    let path = parts.uri.path_and_query().map_or(0, |path| path.as_str().len());
    if path > app.settings.headers {
        let message = format!("the path has {path} bytes; at most {} are read", app.settings.headers);
        let hint = "what is asked stands in the body";
        return Err(Refusal::new(StatusCode::URI_TOO_LONG, "path-too-long", message, hint));
    }
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        let message = "a request has one `Host` header";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "no-host", message, "Host: localhost"));
    };
    let named = parts.uri.authority().map(|authority| authority.as_str());
    let ours = |name: &str| app.settings.hosts.allow(name);
    if !host.to_str().is_ok_and(ours) || !named.is_none_or(ours) {
        let message = "this server goes by another name than the `Host` of the request";
        let hint = "open the address that `breakeven serve` printed; `--host` makes it known by another";
        return Err(Refusal::new(StatusCode::FORBIDDEN, "wrong-host", message, hint));
    }
    if headers.get(header::CONTENT_ENCODING).is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
    {
        let message = "the body is packed; plain JSON is read";
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(Refusal::new(status, "wrong-type", message, "send it without `Content-Encoding`"));
    }
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > app.settings.body as u64) {
        return Err(too_large(app));
    }
    Ok(())
}

fn too_large(app: &App) -> Refusal {
    let message = format!("the body has more than {} MiB", app.settings.body >> 20);
    let hint = "`breakeven show FILE` and `breakeven kernels TABLE` take files of any size";
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message, hint)
}
