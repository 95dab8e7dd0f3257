//! What is refused, as every client reads it: the engine's one error in JSON, with a status.

use crate::page;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use breakeven::{Error, answer};

/// An error and its status.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    error: Error,
}

impl Refusal {
    /// An error that the server tells itself.
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>, hint: &str) -> Self {
        Self { status, error: Error::new(code, message).hint(hint) }
    }

    /// Too much at once: the same request may do later.
    pub(crate) fn busy(message: &str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message, "try again in a second")
    }
}

/// What does not read is 400; what reads and asks for something that is not there is 422.
impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let status = match error.code {
            "bad-request" => StatusCode::BAD_REQUEST,
            "internal" => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self { status, error }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = page::json(answer::reply(Err(self.error)) + "\n");
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if self.status == StatusCode::REQUEST_TIMEOUT {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}
