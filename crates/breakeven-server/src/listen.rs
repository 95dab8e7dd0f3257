//! Connections: accepted some at a time, each request's head in its time, all of them let go at the end.

use crate::routes::router;
use crate::settings::Settings;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::select;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

/// For requests that are under way when the server stops.
const LAST: Duration = Duration::from_secs(2);
/// The engine's recursion is bounded by its formats; this is room for all of it.
const STACK: usize = 8 << 20;

/// Serves until Ctrl-C or SIGTERM. `ready` is called when both are listened for.
///
/// # Errors
/// When the system gives no threads or signals, or `listener` cannot be used.
pub fn run(listener: std::net::TcpListener, settings: Settings, ready: impl FnOnce()) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = Builder::new_current_thread().enable_all().thread_stack_size(STACK).build()?;
    let served = runtime.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        ready();
        serve(listener, settings, async {
            select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
        .await;
        Ok(())
    });
    // Work that is still going on is not waited for.
    runtime.shutdown_background();
    served
}

/// Serves until `stop`; then requests under way have two seconds.
pub async fn serve(listener: TcpListener, settings: Settings, stop: impl Future<Output = ()>) {
    let connections = Arc::new(Semaphore::new(settings.connections.max(1)));
    let graceful = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    // Clients that say at once that they will send no more still want their answer.
    http.timer(TokioTimer::new()).header_read_timeout(settings.head_time).max_buf_size(64 << 10).half_close(true);
    let app: Router = router(settings);
    let mut stop = pin!(stop);
    loop {
        let (stream, place) = select! {
            () = &mut stop => break,
            accepted = accept(&listener, &connections) => accepted,
        };
        let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(app.clone()));
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that goes away in the middle is its own affair.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    let _ = timeout(LAST, graceful.shutdown()).await;
}

/// The next connection, as soon as there is room for one.
async fn accept(listener: &TcpListener, connections: &Arc<Semaphore>) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    let place = Arc::clone(connections).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let _ = stream.set_nodelay(true);
                return (stream, place);
            }
            // A connection that was gone at once, or no descriptor left: it gets better.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}
