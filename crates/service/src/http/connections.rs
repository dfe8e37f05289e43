//! Connections: their number, their duration and their origin.

use std::future::Future;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use everlevel_remote::Exposure;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;

use super::refusals::Refusing;
use super::routes::router;
use crate::error::ServiceError;
use crate::service::{Service, Shared};

/// The time limit for the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// The time limit for a TLS handshake; the time limit of a request also holds.
const HANDSHAKE_TIME: Duration = Duration::from_secs(5);
/// The largest head of a request, in bytes.
const HEAD_BYTES: usize = 64 << 10;
/// The number of requests that read and write files at the same time.
const BLOCKING_THREADS: usize = 32;
/// The time limit of a connection, as a multiple of that of a request.
const REQUESTS: u32 = 10;

impl Service {
    /// Answers requests at an address until `end` is ready.
    ///
    /// # Errors
    /// An address that other machines can reach, without TLS and without an explicit request;
    /// errors of the system.
    pub fn serve(
        &self,
        listener: TcpListener,
        exposure: Exposure,
        end: impl Future<Output = ()>,
    ) -> Result<(), ServiceError> {
        let failed = |e: std::io::Error| ServiceError::internal("listening")(&e);
        if self.shared.tls.is_none() {
            exposure.check(listener.local_addr().map_err(failed)?)?;
        }
        listener.set_nonblocking(true).map_err(failed)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(BLOCKING_THREADS)
            .enable_all()
            .build()
            .map_err(failed)?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
            tokio::spawn(renewed(self.shared.clone()));
            let accepting = tokio::spawn(accept(self.shared.clone(), listener));
            end.await;
            accepting.abort();
            Ok(())
        })
        // Requests that are not answered yet are not answered any more: they can be repeated.
    }
}

async fn accept(shared: Arc<Shared>, listener: tokio::net::TcpListener) {
    let service = TowerToHyperService::new(router(shared.clone()));
    let open = Arc::new(Semaphore::new(shared.config.connections.max(1)));
    let most = shared.config.request_time * REQUESTS;
    loop {
        let Ok(place) = open.clone().acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(e) => {
                // Such as too many open files, which others may close.
                tracing::warn!(error = %e, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let (shared, service) = (shared.clone(), service.clone());
        tokio::spawn(async move {
            let whole = async {
                let Some(tls) = &shared.tls else { return answered(stream, service).await };
                let handshake = HANDSHAKE_TIME.min(shared.config.request_time);
                if let Some(stream) = tls.greeted(stream, handshake).await {
                    answered(stream, service).await;
                }
            };
            // Whoever is too slow, or breaks off, has to connect again.
            let _ = tokio::time::timeout(most, whole).await;
            drop(place);
        });
    }
}

/// Answers the requests of a connection.
async fn answered<S>(stream: S, service: TowerToHyperService<axum::Router>)
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(Refusing::new(stream)), service);
    let _ = connection.await;
}

/// Reads the TLS files again whenever they have changed.
async fn renewed(shared: Arc<Shared>) {
    let Some(tls) = &shared.tls else { return };
    loop {
        tls.aged().await;
        match tokio::task::block_in_place(|| tls.renew()) {
            Ok(true) => tracing::info!("the certificate was renewed"),
            Ok(false) => {}
            Err(e) => tracing::error!(error = %e, "the certificate stays as it was"),
        }
    }
}

/// Waits until the process is asked to end, by Ctrl-C or by the system.
pub async fn interrupted() {
    let (asked, mut end) = tokio::sync::mpsc::channel::<()>(1);
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            let asked = asked.clone();
            tokio::spawn(async move {
                terminated.recv().await;
                let _ = asked.send(()).await;
            });
        }
    }
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            let _ = asked.send(()).await;
        }
    });
    if end.recv().await.is_none() {
        // The system has no signals: the service runs until it is killed.
        std::future::pending::<()>().await;
    }
}
