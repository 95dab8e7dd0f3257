//! The engine's work, on threads of its own: some requests at a time, none longer than its deadline is waited for.

use crate::refusal::Refusal;
use axum::http::StatusCode;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

/// Turns to work.
#[derive(Clone)]
pub(crate) struct Work(Arc<Semaphore>);

impl Work {
    /// So many requests at a time.
    pub(crate) fn new(workers: usize) -> Self {
        Self(Arc::new(Semaphore::new(workers.max(1))))
    }

    /// What `work` comes to. The turn is given back when the work has ended, even where nobody waits for it any more,
    /// so that requests which take too long cannot pile up.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        until: Instant,
        work: impl FnOnce() -> breakeven::Result<T> + Send + 'static,
    ) -> Result<T, Refusal> {
        let Ok(turn) = timeout_at(until, Arc::clone(&self.0).acquire_owned()).await else {
            return Err(Refusal::busy("others kept the engine busy for the whole time that this request has"));
        };
        let done = spawn_blocking(move || {
            let _turn = turn;
            work()
        });
        match timeout_at(until, done).await {
            Ok(Ok(result)) => Ok(result?),
            Ok(Err(_)) => Err(Refusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal",
                "the engine failed on this request; the server goes on",
                "what stands on the server's stderr and the request would help to mend it",
            )),
            Err(_) => Err(Refusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "took-too-long",
                "the answer was not there in time",
                "fewer GPUs in `options.gpu`, or the command: it has all the time",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn status(refusal: Refusal) -> StatusCode {
        axum::response::IntoResponse::into_response(refusal).status()
    }

    #[tokio::test]
    async fn late_work_keeps_its_turn_and_a_panic_gives_it_back() {
        let work = Work::new(1);
        let soon = || Instant::now() + Duration::from_millis(100);
        let panicked = work.run(soon() + Duration::from_secs(5), || -> breakeven::Result<()> { panic!("meant") }).await;
        assert_eq!(status(panicked.unwrap_err()), StatusCode::INTERNAL_SERVER_ERROR);
        let (release, held) = std::sync::mpsc::channel::<()>();
        let late = work.run(soon(), move || Ok(held.recv())).await;
        assert_eq!(status(late.unwrap_err()), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(status(work.run(soon(), || Ok(1)).await.unwrap_err()), StatusCode::SERVICE_UNAVAILABLE);
        release.send(()).unwrap();
        assert_eq!(work.run(soon() + Duration::from_secs(5), || Ok(2)).await.unwrap(), 2);
    }
}
