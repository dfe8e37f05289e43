//! Requests and their answers. What breaks off is sent again.

use std::fmt::Display;
use std::thread::sleep;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::http::Response;

use crate::api::{JSON_BYTES, PART_BYTES, Refusal};
use crate::connecting::Connecting;
use crate::error::RemoteError;
use crate::name::IdempotencyKey;
use crate::tls::unproved;
use crate::token::Token;

/// How many times a request is sent before the service counts as unreachable.
const TRIES: u32 = 5;
/// The most bytes of an answer in JSON: a list of everything that a tenant may have.
const ANSWER_BYTES: u64 = 64 << 20;

type Reply = Response<ureq::Body>;
type Sent = Result<Reply, ureq::Error>;

/// The way to a service, for the bearer of a token.
pub struct Calls {
    agent: Agent,
    base: String,
    authorization: String,
}

fn body(mut reply: Reply, limit: u64) -> Result<Vec<u8>, ureq::Error> {
    reply.body_mut().with_config().limit(limit).read_to_vec()
}

/// An answer that was not one of success.
fn refused(reply: Reply) -> RemoteError {
    let status = reply.status();
    match serde_json::from_slice::<Refusal>(&body(reply, ANSWER_BYTES).unwrap_or_default()) {
        Ok(Refusal { error }) => error.into(),
        Err(_) => RemoteError::Unreachable { problem: format!("it answered with status {status}") },
    }
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, RemoteError> {
    serde_json::from_slice(body).map_err(|e| RemoteError::malformed("the answer", e))
}

impl Calls {
    pub fn new(url: &str, token: &str, connecting: &Connecting) -> Result<Self, RemoteError> {
        let token: Token = token.parse()?;
        let agent = connecting.agent(url)?;
        let authorization = format!("Bearer {}", token.reveal());
        Ok(Calls { agent, base: url.trim_end_matches('/').into(), authorization })
    }

    /// Sends a request until its answer has arrived in full: the body, of at most `limit` bytes,
    /// and how many times it was sent.
    fn answered(
        &self,
        limit: u64,
        send: impl Fn(&Agent, &str) -> Sent,
    ) -> Result<(Vec<u8>, u32), (RemoteError, u32)> {
        let mut tries = 1;
        loop {
            let failed = match send(&self.agent, &self.authorization) {
                Ok(reply) if reply.status().is_success() => match body(reply, limit) {
                    Ok(body) => return Ok((body, tries)),
                    // It does not become shorter.
                    Err(e @ ureq::Error::BodyExceedsLimit(_)) => {
                        return Err((RemoteError::malformed("the answer", e), tries));
                    }
                    Err(e) => RemoteError::Unreachable { problem: e.to_string() },
                },
                Ok(reply) if ![502, 503, 504].contains(&reply.status().as_u16()) => {
                    return Err((refused(reply), tries));
                }
                Ok(reply) => refused(reply),
                Err(e) => match unproved(&e) {
                    Some(e) => return Err((e, tries)),
                    None => RemoteError::Unreachable { problem: e.to_string() },
                },
            };
            if tries == TRIES {
                return Err((failed, tries));
            }
            sleep(Duration::from_millis(100) * 2u32.pow(tries));
            tries += 1;
        }
    }

    fn once(
        &self,
        limit: u64,
        send: impl Fn(&Agent, &str) -> Sent,
    ) -> Result<Vec<u8>, RemoteError> {
        self.answered(limit, send).map(|(body, _)| body).map_err(|(e, _)| e)
    }

    fn url(&self, path: impl Display) -> String {
        format!("{}{path}", self.base)
    }

    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, RemoteError> {
        let url = self.url(path);
        let send =
            |agent: &Agent, token: &str| agent.get(&url).header("Authorization", token).call();
        parsed(&self.once(ANSWER_BYTES, send)?)
    }

    /// A part of bytes.
    pub fn part(&self, path: impl Display) -> Result<Vec<u8>, RemoteError> {
        let url = self.url(path);
        let send =
            |agent: &Agent, token: &str| agent.get(&url).header("Authorization", token).call();
        self.once(PART_BYTES, send)
    }

    pub fn delete(&self, path: &str) -> Result<(), RemoteError> {
        let url = self.url(path);
        let send =
            |agent: &Agent, token: &str| agent.delete(&url).header("Authorization", token).call();
        match self.answered(ANSWER_BYTES, send) {
            Ok(_) => Ok(()),
            // The answer to an earlier try was lost.
            Err((e, 2..)) if e.code() == "service.not-found" => Ok(()),
            Err((e, _)) => Err(e),
        }
    }

    pub fn put<T: DeserializeOwned>(
        &self,
        path: impl Display,
        part: &[u8],
    ) -> Result<T, RemoteError> {
        let url = self.url(path);
        let send =
            |agent: &Agent, token: &str| agent.put(&url).header("Authorization", token).send(part);
        parsed(&self.once(ANSWER_BYTES, send)?)
    }

    pub fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        key: Option<&IdempotencyKey>,
    ) -> Result<T, RemoteError> {
        let url = self.url(path);
        let text =
            serde_json::to_vec(body).map_err(|e| RemoteError::malformed("the request", e))?;
        if text.len() > JSON_BYTES {
            let limit = JSON_BYTES as u64;
            return Err(RemoteError::TooLarge { what: "bytes of a request", limit });
        }
        let send = |agent: &Agent, token: &str| {
            let request = agent.post(&url).header("Authorization", token);
            let request = request.header("Content-Type", "application/json");
            match key {
                Some(key) => request.header("Idempotency-Key", key.as_ref()).send(&text[..]),
                None => request.send(&text[..]),
            }
        };
        parsed(&self.once(ANSWER_BYTES, send)?)
    }
}
