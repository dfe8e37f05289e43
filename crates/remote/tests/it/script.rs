//! A service that gives the answers of a script, a connection each, and notes what was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use everlevel_remote::{Client, Exposure};

/// What is sent for a request, before the connection is closed.
pub type Answer = Vec<u8>;

/// A whole answer.
pub fn answer(status: u16, body: &[u8]) -> Answer {
    broken_off(status, body, body.len())
}

/// An answer that announces a body and ends after some bytes of it.
pub fn broken_off(status: u16, body: &[u8], sent: usize) -> Answer {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} Said\r\nContent-Length: {length}\r\n");
    [head.as_bytes(), b"Connection: close\r\n\r\n", &body[..sent]].concat()
}

/// A refusal with a code.
pub fn refusal(status: u16, code: &str) -> Answer {
    let body = format!(r#"{{"error": {{"code": "{code}", "message": "because"}}}}"#);
    answer(status, body.as_bytes())
}

pub struct Scripted {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

/// A request, its head as text.
fn request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let start = head.len();
        reader.read_line(&mut head).unwrap();
        let line = head[start..].trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(stated) = line.strip_prefix("content-length:") {
            length = stated.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    head
}

impl Scripted {
    pub fn new(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = asked.clone();
        let thread = std::thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let head = request(&stream);
                noted.lock().unwrap().push(head);
                stream.write_all(&answer).unwrap();
            }
        });
        Scripted { address, asked, thread: Some(thread) }
    }

    pub fn client(&self) -> Client {
        let token = format!("everlevel_{}", "0".repeat(64));
        Client::new(&format!("http://{}", self.address), &token, Exposure::Loopback).unwrap()
    }

    /// The heads of all requests, once the script is over.
    pub fn asked(mut self) -> Vec<String> {
        self.thread.take().unwrap().join().unwrap();
        self.asked.lock().unwrap().clone()
    }
}
