//! What is no request of HTTP is refused below the routes, by an answer without a body. Here it
//! gets the body of every other refusal, if it is the first that a connection is told: what is
//! written later may be a part of a download, which looks as its owner likes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use everlevel_remote::api::Refusal;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::error::ServiceError;

/// A connection that tells why it refuses.
pub(super) struct Refusing<S> {
    stream: S,
    /// Whether nothing was written yet.
    fresh: bool,
    /// What is written in the place of an answer without a body, and how far it is.
    told: Option<(Vec<u8>, usize)>,
}

impl<S> Refusing<S> {
    pub(super) fn new(stream: S) -> Self {
        Refusing { stream, fresh: true, told: None }
    }
}

/// The whole answer in the place of one that refuses and says nothing; none for others. Answers of
/// routes are others: a refusal has a body there.
fn told(answer: &[u8]) -> Option<Vec<u8>> {
    let head = std::str::from_utf8(answer).ok()?.strip_suffix("\r\n\r\n")?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.strip_prefix("HTTP/1.1 ")?;
    let empty = lines.any(|line| line.eq_ignore_ascii_case("content-length: 0"));
    let problem = match status.split_once(' ')?.0 {
        "431" => "the head of the request is longer than is accepted: send shorter headers",
        "414" => "the address of the request is longer than is accepted: send it in a body",
        code if code.starts_with('4') => "expected a request of HTTP/1.1, found something else",
        _ => return None,
    };
    let error = ServiceError::malformed("the request", problem).told();
    let body = serde_json::to_string(&Refusal { error }).ok().filter(|_| empty)?;
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n",
        body.len()
    );
    Some((head + &body).into_bytes())
}

impl<S: AsyncRead + Unpin> AsyncRead for Refusing<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Refusing<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if std::mem::take(&mut this.fresh) {
            this.told = told(bytes).map(|told| (told, 0));
        }
        let Some((told, done)) = &mut this.told else {
            return Pin::new(&mut this.stream).poll_write(context, bytes);
        };
        while *done < told.len() {
            match ready!(Pin::new(&mut this.stream).poll_write(context, &told[*done..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => *done += written,
            }
        }
        this.told = None;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::{Refusing, told};

    #[test]
    fn only_refusals_without_a_body_get_one() {
        for other in [
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 20\r\n\r\n",
            "",
        ] {
            assert_eq!(told(other.as_bytes()), None, "{other}");
        }
        let empty = b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\n\r\n";
        let answer = String::from_utf8(told(empty).unwrap()).unwrap();
        assert!(answer.starts_with("HTTP/1.1 431 ") && answer.contains("service.malformed"));
    }

    /// An object may end like a refusal, and its end may be written by itself.
    #[test]
    fn the_end_of_a_download_is_left_as_it_is() {
        let refusal = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 47\r\n\r\n";
        let written = |parts: &[&[u8]]| {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                let mut connection = Refusing::new(Vec::<u8>::new());
                for part in parts {
                    connection.write_all(part).await.unwrap();
                }
                connection.stream
            })
        };
        assert_eq!(written(&[head, refusal]), [&head[..], refusal].concat());
        assert!(String::from_utf8(written(&[refusal])).unwrap().contains("service.malformed"));
    }
}
