//! What stage and server tell each other: a line of JSON each way, and the bytes of the results.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::error::SuiteError;
use crate::fetch::protocol::Task;

/// The version of both lines.
const VERSION: u64 = 1;
/// Bytes of a line at most.
pub(super) const LONGEST: u64 = 1 << 14;
/// Characters of a problem at most, so that its line is not too long, whatever they are.
const LONGEST_PROBLEM: usize = 2_000;
/// Bytes of results at most.
const LARGEST: u64 = 1 << 28;
/// For how long the server waits for a request, and for somebody who does not take the answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Steps of the server, in the order of their times.
pub(super) const STEPS: [&str; 3] = ["Read inputs", "Encrypted computation", "Write outputs"];

/// A problem of the server.
pub(super) fn problem(problem: impl Into<String>) -> SuiteError {
    SuiteError::Server { problem: problem.into() }
}

/// What an error of the server is told as.
pub(super) fn told(error: &SuiteError) -> String {
    let text = match error {
        SuiteError::Server { problem } => problem.clone(),
        other => format!("{other} [{}]", other.code()),
    };
    text.chars().take(LONGEST_PROBLEM).map(|c| if c == '\n' { ' ' } else { c }).collect()
}

fn lost(error: io::Error) -> SuiteError {
    problem(format!("the connection was lost: {error}"))
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub task: Task,
    /// The file of the query, with the path from the root of the file system.
    pub query: String,
}

impl Request {
    fn line(&self) -> String {
        let fields = json!({ "version": VERSION, "task": self.task.name(), "query": self.query });
        format!("{fields}\n")
    }

    fn parse(line: &[u8]) -> Option<Self> {
        let fields: Map<String, Value> = serde_json::from_slice(line).ok()?;
        if fields.len() != 3 || fields.get("version")?.as_u64()? != VERSION {
            return None;
        }
        let name = fields.get("task")?.as_str()?;
        let task = [Task::Count, Task::Fetch].into_iter().find(|task| task.name() == name)?;
        Some(Request { task, query: fields.get("query")?.as_str()?.into() })
    }

    /// Sends it, as the only line.
    pub fn send(&self, mut stream: &UnixStream) -> Result<(), SuiteError> {
        stream.write_all(self.line().as_bytes()).map_err(lost)
    }

    /// Reads one, which has to come soon and to be short.
    pub fn receive(mut stream: &UnixStream) -> Result<Self, SuiteError> {
        let start = Instant::now();
        stream.set_read_timeout(Some(PATIENCE)).map_err(lost)?;
        let (mut line, mut part) = (Vec::new(), [0; 512]);
        while !line.ends_with(b"\n") {
            let count = stream.read(&mut part).map_err(lost)?;
            line.extend_from_slice(&part[..count]);
            if count == 0 || line.len() as u64 > LONGEST || start.elapsed() > PATIENCE {
                return Err(problem("a request was cut, too long or too slow"));
            }
        }
        Self::parse(&line).ok_or_else(|| problem("a request is none of this version"))
    }
}

/// What the server answers.
pub(super) struct Reply {
    /// The times of [`STEPS`].
    pub spent: [Duration; 3],
    /// The file of results.
    pub bytes: Vec<u8>,
}

impl Reply {
    /// Sends the answer, or why there is none.
    pub fn send(mut stream: &UnixStream, reply: &Result<Self, SuiteError>) -> io::Result<()> {
        stream.set_write_timeout(Some(PATIENCE))?;
        let (fields, bytes) = match reply {
            Ok(Reply { spent, bytes }) => {
                let seconds = spent.map(|spent| spent.as_secs_f64());
                (json!({ "seconds": seconds, "bytes": bytes.len() }), &bytes[..])
            }
            Err(e) => (json!({ "problem": told(e) }), &[][..]),
        };
        stream.write_all(format!("{fields}\n").as_bytes())?;
        stream.write_all(bytes)
    }

    /// Waits for the answer, for as long as the server takes; one that ends is noticed.
    pub fn receive(stream: &UnixStream) -> Result<Self, SuiteError> {
        let (mut reader, mut line) = (BufReader::new(stream), Vec::new());
        (&mut reader).take(LONGEST).read_until(b'\n', &mut line).map_err(lost)?;
        let none = || problem("it ended without an answer, or gave one that is none");
        let fields: Map<String, Value> = serde_json::from_slice(&line).map_err(|_| none())?;
        if let Some(text) = fields.get("problem").and_then(Value::as_str) {
            return Err(problem(text));
        }
        let spent = seconds(&fields).ok_or_else(none)?;
        let length = fields.get("bytes").and_then(Value::as_u64).filter(|n| *n <= LARGEST);
        let (length, mut bytes) = (length.ok_or_else(none)?, Vec::new());
        reader.take(length + 1).read_to_end(&mut bytes).map_err(lost)?;
        if bytes.len() as u64 != length {
            return Err(none());
        }
        Ok(Reply { spent, bytes })
    }
}

/// The times of an answer.
fn seconds(fields: &Map<String, Value>) -> Option<[Duration; 3]> {
    let found = fields.get("seconds")?.as_array()?;
    let mut out = [Duration::ZERO; 3];
    if found.len() != out.len() {
        return None;
    }
    for (out, found) in out.iter_mut().zip(found) {
        *out = Duration::try_from_secs_f64(found.as_f64()?).ok()?;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use std::net::Shutdown;
    use std::thread;

    use super::*;

    fn answered(bytes: &[u8]) -> Result<Reply, SuiteError> {
        let (stage, server) = UnixStream::pair().unwrap();
        thread::scope(|scope| {
            scope.spawn(move || (&server).write_all(bytes).unwrap());
            Reply::receive(&stage)
        })
    }

    #[test]
    fn requests_are_read_as_they_were_sent() {
        for task in [Task::Count, Task::Fetch] {
            let request = Request { task, query: "/a \"tree\"\n/query.bin".into() };
            assert_eq!(request.line().matches('\n').count(), 1);
            let (stage, server) = UnixStream::pair().unwrap();
            request.send(&stage).unwrap();
            assert_eq!(Request::receive(&server).unwrap(), request);
        }
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let good = Request { task: Task::Count, query: "/q".into() }.line();
        for wrong in [
            b"".to_vec(),
            b"\n".to_vec(),
            good.trim_end().into(),
            good.replace(":1", ":2").into(),
            good.replace("count", "sum").into(),
            good.replace("\"/q\"", "7").into(),
            good.replace("{", "{\"more\":1,").into(),
            good.repeat(2).into(),
            vec![0xff; 100],
            vec![b' '; 1 << 15],
            [&[0x89, b'E', b'V', b'L'], good.as_bytes()].concat(),
        ] {
            let (stage, server) = UnixStream::pair().unwrap();
            let found = thread::scope(|scope| {
                scope.spawn(|| {
                    // Refused before all of it is read.
                    let _ = (&stage).write_all(&wrong);
                    let _ = stage.shutdown(Shutdown::Write);
                });
                let found = Request::receive(&server);
                // Who still writes does not wait.
                drop(server);
                found
            });
            assert_eq!(found.unwrap_err().code(), "suite.server", "{wrong:?}");
        }
    }

    #[test]
    fn answers_are_read_as_they_were_sent() {
        let spent = [1, 20, 300].map(Duration::from_millis);
        for bytes in [Vec::new(), vec![b'\n'; 100_000]] {
            let (stage, server) = UnixStream::pair().unwrap();
            let reply = Ok(Reply { spent, bytes: bytes.clone() });
            let found = thread::scope(|scope| {
                scope.spawn(move || Reply::send(&server, &reply).unwrap());
                Reply::receive(&stage).unwrap()
            });
            assert!(found.bytes == bytes && found.spent == spent);
        }
        let (stage, server) = UnixStream::pair().unwrap();
        Reply::send(&server, &Err(problem("none\nof it"))).unwrap();
        let found = Reply::receive(&stage).err().unwrap();
        assert_eq!(found, problem("none of it"));
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        let good = b"{\"bytes\":3,\"seconds\":[1,0.5,0]}\nabc";
        assert_eq!(answered(good).unwrap().bytes, b"abc");
        let wrong: [&[u8]; 8] = [
            b"",
            &good[..20],
            &good[..good.len() - 1],
            &[&good[..], b"d"].concat(),
            b"{\"bytes\":3,\"seconds\":[1,0.5]}\nabc",
            b"{\"bytes\":3,\"seconds\":[1,0.5,-1]}\nabc",
            b"{\"bytes\":268435457,\"seconds\":[1,0.5,1]}\nabc",
            b"{\"seconds\":[1,0.5,1]}\n",
        ];
        for wrong in wrong {
            assert_eq!(answered(wrong).err().unwrap().code(), "suite.server", "{wrong:?}");
        }
    }
}
