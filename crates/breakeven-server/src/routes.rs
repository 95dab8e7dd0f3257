//! The routes, a function each.

use crate::guard::{Until, guard};
use crate::refusal::Refusal;
use crate::settings::Settings;
use crate::work::Work;
use crate::{openapi, page};
use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{DefaultBodyLimit, Extension, Query, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use breakeven::answer::{answer_request, read_request};
use breakeven::hardware::{Catalogue, gpus_json};
use breakeven::report::words;
use breakeven::{report, table};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// What requests share.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) settings: Settings,
    /// Bytes that bodies may still take.
    pub(crate) bodies: Arc<Semaphore>,
    work: Work,
}

/// Everything that is served.
pub(crate) fn router(settings: Settings) -> Router {
    let bodies = Arc::new(Semaphore::new(settings.bodies.min(Semaphore::MAX_PERMITS)));
    let app = App { bodies, work: Work::new(settings.workers), settings };
    Router::new()
        .route("/", get(async || page::page()))
        .route("/report", get(async || page::report()))
        .route("/gpus", get(gpus))
        .route("/api/v1/gpus", get(gpus))
        .route("/api/v1/estimate", post(estimate))
        .route("/api/v1/kernels", post(kernels))
        .route("/api/v1/openapi.json", get(async || page::json(openapi::document())))
        .fallback(nowhere)
        .method_not_allowed_fallback(not_so)
        // The guard has bounded the body already.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(app.clone(), guard))
        .with_state(app)
}

type Reply = Result<Response, Refusal>;

/// `breakeven.request/1` in, `breakeven.estimate/1` out: the bytes that the command prints.
async fn estimate(
    State(app): State<App>,
    Extension(until): Extension<Until>,
    headers: HeaderMap,
    body: Bytes,
) -> Reply {
    is_json(&headers)?;
    let (today, machine) = (app.settings.today, app.settings.machine.clone());
    let answer = move || {
        let mut request = read_request(text(&body)?)?;
        if request.today.is_empty() {
            request.today = today();
        }
        request.machine = request.machine.or(machine);
        answer_request(&request).map(|estimate| report::json(&estimate))
    };
    app.work.run(until.0, answer).await.map(page::json)
}

/// Rows of a table of kernels in, `breakeven.kernels/1` out.
async fn kernels(State(app): State<App>, Extension(until): Extension<Until>, headers: HeaderMap, body: Bytes) -> Reply {
    is_json(&headers)?;
    app.work.run(until.0, move || table::answer(text(&body)?)).await.map(page::json)
}

/// The catalogue, or what goes by `?name=`: `breakeven.gpus/1`.
async fn gpus(query: Result<Query<BTreeMap<String, String>>, QueryRejection>) -> Reply {
    let bad = |message: String| Refusal::new(StatusCode::BAD_REQUEST, "bad-request", message, "/api/v1/gpus?name=h100");
    let Ok(Query(query)) = query else { return Err(bad("the query does not read".to_owned())) };
    if let Some(other) = query.keys().find(|key| *key != "name") {
        return Err(bad(format!("the query has `{}`; `name` is allowed", words::printable(other, 60))));
    }
    let catalogue = Catalogue::embedded();
    let list = match query.get("name") {
        None => gpus_json(catalogue.gpus(), None),
        Some(name) => {
            let found = catalogue.find_gpu(name).map_err(|error| {
                Refusal::new(StatusCode::NOT_FOUND, error.code, error.message, &error.hint.unwrap_or_default())
            })?;
            gpus_json(found.gpus, found.note)
        }
    };
    Ok(page::json(list.to_string() + "\n"))
}

async fn nowhere(uri: Uri) -> Refusal {
    let message = format!("there is nothing at `{}`", words::printable(uri.path(), 100));
    let hint = "/ is the calculator, /report the report page, /api/v1/openapi.json lists the rest";
    Refusal::new(StatusCode::NOT_FOUND, "no-such-path", message, hint)
}

async fn not_so(method: Method, uri: Uri) -> Refusal {
    let path = words::printable(uri.path(), 100);
    let message = format!("`{path}` does not take {}", words::printable(method.as_str(), 20));
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "wrong-method", message, "the header `Allow` says what it takes")
}

fn text(body: &[u8]) -> breakeven::Result<&str> {
    std::str::from_utf8(body).map_err(|e| {
        let message = format!("the body is not text: byte {} is not UTF-8", e.valid_up_to());
        breakeven::Error::new("bad-request", message).hint("send JSON in UTF-8")
    })
}

/// A form or a script of another site can send text without being asked, but not this type.
fn is_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|given| given.to_str().ok()).unwrap_or("");
    let mut parts = given.split(';').map(|part| part.trim().to_ascii_lowercase());
    let json = parts.next().is_some_and(|kind| kind == "application/json");
    if json && parts.all(|part| part.strip_prefix("charset=").is_none_or(|set| set.trim_matches('"') == "utf-8")) {
        return Ok(());
    }
    let message = format!("the body is said to be `{}`; JSON in UTF-8 is read", words::printable(given, 60));
    Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "wrong-type", message, "Content-Type: application/json"))
}
