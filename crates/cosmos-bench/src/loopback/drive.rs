//! A client of the server, and what it takes.

use std::time::{Duration, Instant};

use clap::ValueEnum;
use cosmos_core::{BoxError, PartitionKey, requests};
use cpu_time::ProcessTime;
use hdrhistogram::Histogram;
use http::Response;
use http_body::Body;
use http_body_util::BodyExt;
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;
use tower::{Layer, Service, ServiceExt};
use tower_cosmos::{Account, RecommendedLayer, SigningLayer};

use crate::instant::Req;
use crate::measure::now;
use crate::operation::credential;
use crate::plain::{Hyper, address, hyper, region};

/// How long a client works before it is measured: connections, caches, branch predictors.
const WARM: Duration = Duration::from_millis(200);

/// The longest latency that is told apart, in nanoseconds.
const LONGEST: u64 = 10_000_000_000;

/// Which client.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// hyper's client with its pool, each request signed and addressed to one region.
    Plain,
    /// The same, which also spins for as long as the layers may take, and does nothing meanwhile.
    Spinning,
    /// The same client under the recommended layers.
    Stack,
}

/// The processor's time that the layers may take of a client, by the goal.
pub(crate) const ALLOWED: Duration = Duration::from_micros(4);

/// What it speaks.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// HTTP/1.1, a connection for each request at a time.
    Http1,
    /// HTTP/2, all requests over one connection.
    Http2,
}

/// How to read.
#[derive(Clone, Debug, clap::Args)]
pub struct Drive {
    /// Where the account is.
    #[arg(long)]
    pub endpoint: String,
    /// Through what.
    #[arg(long)]
    pub kind: Kind,
    /// Over what.
    #[arg(long)]
    pub protocol: Protocol,
    /// How many reads are under way all the time.
    #[arg(long)]
    pub at_a_time: usize,
    /// For how long, in milliseconds.
    #[arg(long)]
    pub millis: u64,
}

/// What it took.
#[derive(Copy, Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Driven {
    pub(crate) per_second: f64,
    /// Latencies in microseconds.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    /// Processor time of this process for each read, in microseconds.
    pub(crate) cpu: f64,
}

impl Drive {
    /// Reads, and prints what it took as one JSON line.
    ///
    /// # Errors
    /// If the account cannot be read, or an operation fails.
    pub async fn run(&self) -> Result<(), BoxError> {
        let client = hyper(self.protocol == Protocol::Http2);
        let driven = match self.kind {
            Kind::Plain => {
                self.drive(plain(client, &self.endpoint, Duration::ZERO)?)
                    .await
            }
            Kind::Spinning => self.drive(plain(client, &self.endpoint, ALLOWED)?).await,
            Kind::Stack => {
                let account = Account::builder(&self.endpoint, credential())
                    .preferred_regions(["East US", "West US", "North Europe"])
                    .build(client.clone())?;
                let layers = RecommendedLayer::new(account, credential());
                self.drive(layers.timeout(TIMEOUT).layer(client)).await
            }
        };
        println!("{}", serde_json::to_string(&driven?)?);
        Ok(())
    }

    async fn drive<S, B>(&self, mut service: S) -> Result<Driven, BoxError>
    where
        S: Service<Req, Response = Response<B>> + Clone + Send + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
        B: Body + Send + 'static,
        B::Error: Into<BoxError> + std::fmt::Debug,
        B::Data: Send,
    {
        // The account is read, and the first connection made.
        read(&mut service).await?;
        let begins = now() + WARM;
        let ends = begins + Duration::from_millis(self.millis);
        let mut readers = JoinSet::new();
        for _ in 0..self.at_a_time {
            readers.spawn(reads(service.clone(), begins, ends));
        }
        tokio::time::sleep_until(begins.into()).await;
        let cpu = ProcessTime::now();
        tokio::time::sleep_until(ends.into()).await;
        let cpu = cpu.elapsed();
        let mut latencies = histogram();
        while let Some(read) = readers.join_next().await {
            latencies.add(read??)?;
        }
        let operations = float(latencies.len());
        let micros = |quantile| float(latencies.value_at_quantile(quantile)) / 1e3;
        Ok(Driven {
            per_second: operations * 1e3 / float(self.millis),
            p50: micros(0.5),
            p99: micros(0.99),
            p999: micros(0.999),
            cpu: cpu.as_secs_f64() * 1e6 / operations,
        })
    }
}

/// The longest that an operation may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A client that signs, and knows one region. It spins for so long before each request.
fn plain(
    client: Hyper,
    endpoint: &str,
    spin: Duration,
) -> Result<
    impl Service<Req, Response = Response<hyper::body::Incoming>, Error: Into<BoxError>, Future: Send>
    + Clone
    + Send
    + 'static,
    BoxError,
> {
    let region = region(endpoint)?;
    let addressed = move |mut request| {
        let began = now();
        while began.elapsed() < spin {}
        address(&mut request, &region).expect("a whole URI");
        request
    };
    Ok(SigningLayer::new(credential())
        .layer(client)
        .map_request(addressed))
}

/// Reads one after another, and notes those that began in time.
async fn reads<S, B>(
    mut service: S,
    begins: Instant,
    ends: Instant,
) -> Result<Histogram<u64>, BoxError>
where
    S: Service<Req, Response = Response<B>>,
    S::Error: Into<BoxError>,
    B: Body,
    B::Error: Into<BoxError> + std::fmt::Debug,
{
    let mut latencies = histogram();
    loop {
        let began = now();
        if began >= ends {
            return Ok(latencies);
        }
        read(&mut service).await?;
        if began >= begins {
            let nanos = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            latencies.saturating_record(nanos);
        }
    }
}

async fn read<S, B>(service: &mut S) -> Result<(), BoxError>
where
    S: Service<Req, Response = Response<B>>,
    S::Error: Into<BoxError>,
    B: Body,
    B::Error: Into<BoxError>,
{
    let request = requests::read_item("d", "c", "1", &PartitionKey::from("p")).build()?;
    let ready = service.ready().await.map_err(Into::into)?;
    let response = ready.call(request).await.map_err(Into::into)?;
    if !response.status().is_success() {
        return Err(format!("answered {}", response.status()).into());
    }
    response.into_body().collect().await.map_err(Into::into)?;
    Ok(())
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_max(LONGEST, 3).expect("three digits fit")
}

#[allow(clippy::cast_precision_loss)]
fn float(count: u64) -> f64 {
    count as f64
}
