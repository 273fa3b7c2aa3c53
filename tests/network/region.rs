//! A host of the simulated account: serves requests, and fetches what the other regions have written.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use cosmos_tests::ms;
use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::time::{sleep, timeout};
use turmoil::net::{TcpListener, TcpStream};

use crate::api;
use crate::store::{Disks, Wired};

/// The regions, the hub first: their names and their hosts.
pub(crate) const REGIONS: [(&str, &str); 3] = [
    ("East US", "east"),
    ("West US", "west"),
    ("North Europe", "north"),
];

/// The name of the region at this host.
pub(crate) fn name_of(host: &str) -> &'static str {
    let found = REGIONS.iter().find(|(_, own)| *own == host);
    found.expect("a region's host").0
}

/// The host of the global endpoint.
pub(crate) const GLOBAL: &str = "account";

const HTTP: u16 = 80;
const REPLICATION: u16 = 9000;

/// How often a region asks another one for its writes.
const FETCH: Duration = ms(50);
/// How long it waits for them.
const PATIENCE: Duration = ms(300);

/// The account, as its hosts know it.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) multi_write: bool,
    pub(crate) disks: Arc<Disks>,
    /// The region; `None`: the global endpoint, which answers as the hub does.
    pub(crate) region: Option<usize>,
}

/// Serves requests over both protocols, and replicates.
pub(crate) async fn run(site: Site) -> turmoil::Result {
    if let Some(own) = site.region {
        tokio::spawn(hand_out(Arc::clone(&site.disks), own));
        let origins = (0..REGIONS.len()).filter(|origin| *origin != own);
        // On a single-write account only the hub has writes to give.
        for origin in origins.filter(|origin| site.multi_write || *origin == 0) {
            tokio::spawn(fetch(Arc::clone(&site.disks), own, origin));
        }
    }
    let listener = TcpListener::bind(("0.0.0.0", HTTP)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        let site = site.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let site = site.clone();
                async move { Ok::<_, Infallible>(api::answer(&site, request).await) }
            });
            let server = auto::Builder::new(TokioExecutor::new());
            // How a connection ends is its peer's business.
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// Tells the other regions what this one has written.
async fn hand_out(disks: Arc<Disks>, own: usize) -> std::io::Result<()> {
    let listener = TcpListener::bind(("0.0.0.0", REPLICATION)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        let disks = Arc::clone(&disks);
        tokio::spawn(async move {
            let mut stream = BufReader::new(stream);
            let mut line = String::new();
            while matches!(stream.read_line(&mut line).await, Ok(1..)) {
                let known = line.trim().parse().expect("a count");
                line.clear();
                let changes = disks[own].lock().since(known);
                let mut page = serde_json::to_vec(&changes).expect("a page");
                page.push(b'\n');
                if stream.write_all(&page).await.is_err() {
                    return;
                }
            }
        });
    }
}

/// Asks another region for its writes, for ever.
async fn fetch(disks: Arc<Disks>, own: usize, origin: usize) {
    loop {
        let connecting = TcpStream::connect((REGIONS[origin].1, REPLICATION));
        if let Ok(Ok(stream)) = timeout(PATIENCE, connecting).await {
            let mut stream = BufReader::new(stream);
            while let Ok(Ok(())) =
                timeout(PATIENCE, fetch_once(&mut stream, &disks, own, origin)).await
            {
                sleep(FETCH).await;
            }
        }
        sleep(FETCH).await;
    }
}

async fn fetch_once(
    stream: &mut BufReader<TcpStream>,
    disks: &Disks,
    own: usize,
    origin: usize,
) -> std::io::Result<()> {
    let known = disks[own].lock().progress()[origin];
    stream.write_all(format!("{known}\n").as_bytes()).await?;
    let mut page = String::new();
    if stream.read_line(&mut page).await? == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    let changes: Vec<Wired> = serde_json::from_str(&page)?;
    disks[own].lock().replicate(origin, known, changes);
    Ok(())
}
