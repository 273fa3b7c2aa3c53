//! An HTTP/2 server's side of a connection, frame by frame, for peers that misbehave.

use std::collections::VecDeque;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) const NO_ERROR: u32 = 0;
pub(crate) const INTERNAL_ERROR: u32 = 2;
pub(crate) const REFUSED_STREAM: u32 = 7;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;

const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// One connection.
#[derive(Debug)]
pub(crate) struct Frames {
    socket: TcpStream,
    ended: VecDeque<u32>,
    /// Whether pings are answered.
    pub(crate) alive: bool,
}

impl Frames {
    /// Reads the client's preface and sends settings, with a limit of streams if there is one.
    pub(crate) async fn accept(mut socket: TcpStream, streams: Option<u32>) -> Self {
        let mut preface = [0; 24];
        socket.read_exact(&mut preface).await.unwrap();
        let mut this = Self {
            socket,
            ended: VecDeque::new(),
            alive: true,
        };
        let mut settings = Vec::new();
        if let Some(streams) = streams {
            settings.extend_from_slice(&3_u16.to_be_bytes());
            settings.extend_from_slice(&streams.to_be_bytes());
        }
        this.write(SETTINGS, 0, 0, &settings).await;
        this
    }

    /// The stream of the next request that was read to its end; `None` at the connection's end.
    pub(crate) async fn request(&mut self) -> Option<u32> {
        loop {
            if let Some(id) = self.ended.pop_front() {
                return Some(id);
            }
            self.read().await?;
        }
    }

    async fn read(&mut self) -> Option<()> {
        let mut head = [0; 9];
        self.socket.read_exact(&mut head).await.ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let (kind, flags) = (head[3], head[4]);
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        let mut payload = vec![0; length as usize];
        self.socket.read_exact(&mut payload).await.ok()?;
        match kind {
            DATA | HEADERS if flags & END_STREAM != 0 => self.ended.push_back(stream),
            SETTINGS if flags & ACK == 0 => self.write(SETTINGS, ACK, 0, &[]).await,
            PING if flags & ACK == 0 && self.alive => self.write(PING, ACK, 0, &payload).await,
            _ => {}
        }
        Some(())
    }

    /// Answers with 200 and no body, or with the beginning of one that goes on.
    pub(crate) async fn answer(&mut self, stream: u32, more: bool) {
        // 0x88 is `:status: 200` in the static table.
        let end = if more { 0 } else { END_STREAM };
        self.write(HEADERS, END_HEADERS | end, stream, &[0x88])
            .await;
        if more {
            self.write(DATA, 0, stream, b"the beginning").await;
        }
    }

    pub(crate) async fn reset(&mut self, stream: u32, code: u32) {
        self.write(RST_STREAM, 0, stream, &code.to_be_bytes()).await;
    }

    pub(crate) async fn go_away(&mut self, last: u32, code: u32) {
        let payload = [last.to_be_bytes(), code.to_be_bytes()].concat();
        self.write(GOAWAY, 0, 0, &payload).await;
    }

    async fn write(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut frame = vec![length[1], length[2], length[3], kind, flags];
        frame.extend_from_slice(&stream.to_be_bytes());
        frame.extend_from_slice(payload);
        let _ = self.socket.write_all(&frame).await;
    }

    pub(crate) fn into_socket(self) -> TcpStream {
        self.socket
    }
}
