//! The leaf's settings.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cosmos_core::BoxError;
use cosmos_core::policy::SettingError;
use http::Uri;
use hyper::rt::{Read, Write};
use hyper_rustls::ConfigBuilderExt;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::Connection;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use parking_lot::Mutex;
use rustls::ClientConfig;
use tower_service::Service;

use super::authorities::Authorities;
use super::connect::Connector;
use super::dial::Dial;
use super::health::Retirement;
use super::resolve::{Resolve, Resolver};
use super::shard::{Limits, MakeClient};
use super::{Leaf, Shared};

/// A time that the clock can hold from any instant on.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Which protocol connections speak.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Protocol {
    /// TLS: what the server chooses (ALPN), HTTP/2 first. Cleartext: HTTP/1.1.
    #[default]
    Auto,
    /// HTTP/1.1.
    Http1,
    /// HTTP/2. A TLS server that does not choose it is a
    /// [`Negotiation`](cosmos_core::FailureKind::Negotiation) failure; over cleartext it is spoken
    /// with prior knowledge.
    Http2,
}

/// Settings of a [`Leaf`].
///
/// | setting | default | what it is |
/// |---|---|---|
/// | [`protocol`](Self::protocol) | [`Protocol::Auto`] | which protocol connections speak |
/// | [`connect_limit`](Self::connect_limit) | 5 s | waiting for a slot, look-up, TCP, TLS together |
/// | [`shards`](Self::shards) | 2, growing to 8 | shards of each authority |
/// | [`streams`](Self::streams) | 20 | requests in flight on one shard |
/// | [`retire_after`](Self::retire_after) | 3 | failures in a row after which a shard is replaced |
/// | [`max_age`](Self::max_age) | 10 min | age at which a shard is replaced |
/// | [`authorities`](Self::authorities) | 64 | authorities that have shards |
/// | [`idle_limit`](Self::idle_limit) | 60 s | how long an unused connection is kept |
/// | [`http2_pings`](Self::http2_pings) | every 1 s, answered within 2 s | HTTP/2 keep-alive, also while idle |
/// | [`header_limit`](Self::header_limit) | 64 KiB | headers of one answer |
/// | [`tls_config`](Self::tls_config) | the platform's roots | who is trusted |
/// | [`resolver`](Self::resolver) | the system's | who looks up names |
/// | [`connector`](Self::connector) | TCP | who opens connections |
///
/// `TCP_NODELAY` is on where the leaf opens them itself.
#[derive(Clone)]
#[must_use]
pub struct LeafBuilder {
    protocol: Protocol,
    connect_limit: Duration,
    limits: Limits,
    authorities: usize,
    idle_limit: Duration,
    ping_interval: Duration,
    ping_timeout: Duration,
    header_limit: u32,
    tls: Option<ClientConfig>,
    resolver: Option<Arc<dyn Resolve>>,
    dial: Option<Dial>,
}

impl Default for LeafBuilder {
    fn default() -> Self {
        Self {
            protocol: Protocol::Auto,
            connect_limit: Duration::from_secs(5),
            limits: Limits {
                initial: 2,
                max: 8,
                streams: 20,
                retirement: Retirement {
                    failures: 3,
                    age: Duration::from_secs(600),
                },
            },
            authorities: 64,
            idle_limit: Duration::from_secs(60),
            ping_interval: Duration::from_secs(1),
            ping_timeout: Duration::from_secs(2),
            header_limit: 64 * 1024,
            tls: None,
            resolver: None,
            dial: None,
        }
    }
}

impl LeafBuilder {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Which protocol connections speak. Default [`Protocol::Auto`].
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.protocol = protocol;
        self
    }

    /// How long a request may wait for a slot, a look-up, TCP and TLS together, counted from the
    /// call; more than zero. Default 5 s. Running out is
    /// [`PoolLimit`](cosmos_core::FailureKind::PoolLimit) while waiting for a slot or for a stream
    /// of a connection, else [`ConnectTimeout`](cosmos_core::FailureKind::ConnectTimeout).
    pub fn connect_limit(mut self, limit: Duration) -> Self {
        self.connect_limit = limit;
        self
    }

    /// How many shards an authority begins with, and how many it may grow to; at least 1, at most
    /// 1024. Default 2 and 8.
    pub fn shards(mut self, initial: usize, max: usize) -> Self {
        self.limits.initial = initial;
        self.limits.max = max;
        self
    }

    /// How many requests one shard has in flight at most, from 1 to 10 000. Over HTTP/1.1 each has
    /// a connection of its own. Default 20, the limit of the service's gateway.
    pub fn streams(mut self, streams: usize) -> Self {
        self.limits.streams = streams;
        self
    }

    /// After how many failures in a row (server errors, lost connections, requests given up after
    /// a second or more) a shard is replaced by one with new connections; at least 1. Default 3.
    /// At most one a second, so that an endpoint that fails is not flooded with connections.
    pub fn retire_after(mut self, failures: u32) -> Self {
        self.limits.retirement.failures = failures;
        self
    }

    /// After how long a shard is replaced by one with new connections, so that names are looked up
    /// again; more than zero. Requests under way go on to their end. Default 10 min.
    pub fn max_age(mut self, age: Duration) -> Self {
        self.limits.retirement.age = age;
        self
    }

    /// How many authorities have shards at a time; at least 1. Default 64. One more takes the
    /// place of the one that was not used for longest; if all are in use, the request fails with
    /// [`PoolLimit`](cosmos_core::FailureKind::PoolLimit).
    pub fn authorities(mut self, max: usize) -> Self {
        self.authorities = max;
        self
    }

    /// How long an unused connection is kept; zero: not at all, so that every request connects.
    /// Keep it below the idle limit of what is in between (the Azure load balancer has 4 min).
    /// Default 60 s.
    pub fn idle_limit(mut self, limit: Duration) -> Self {
        self.idle_limit = limit;
        self
    }

    /// How often an HTTP/2 connection is pinged, and how long the answer may take before the
    /// connection counts as dead; both more than zero. Default 1 s and 2 s.
    pub fn http2_pings(mut self, interval: Duration, timeout: Duration) -> Self {
        self.ping_interval = interval;
        self.ping_timeout = timeout;
        self
    }

    /// How long the headers of one answer may be, in bytes, from 8192 on. Default 65 536. Over
    /// HTTP/1.1 it is the size of the read buffer.
    pub fn header_limit(mut self, bytes: u32) -> Self {
        self.header_limit = bytes;
        self
    }

    /// Who is trusted, as a rustls configuration; its ALPN protocols are set by
    /// [`protocol`](Self::protocol). Default: the platform's verifier.
    pub fn tls_config(mut self, config: ClientConfig) -> Self {
        self.tls = Some(config);
        self
    }

    /// Who looks up host names. Default: the system's resolver, on tokio's blocking threads.
    pub fn resolver(mut self, resolver: impl Resolve) -> Self {
        self.resolver = Some(Arc::new(resolver));
        self
    }

    /// Who opens connections: through a proxy, to a Unix socket, over a simulated network. Default:
    /// TCP.
    ///
    /// The connector is given scheme, host and port of the request; whoever has a plain socket hands
    /// it out, also for `https`. TLS, protocol and limits stay the leaf's, shards included;
    /// [`resolver`](Self::resolver) is not asked. An error that holds a
    /// [`TransportError`](cosmos_core::TransportError) of a kind that was not sent keeps its kind (a
    /// look-up is [`Dns`](cosmos_core::FailureKind::Dns), say); else an I/O error in it tells
    /// [`Refused`](cosmos_core::FailureKind::Refused) and
    /// [`ConnectTimeout`](cosmos_core::FailureKind::ConnectTimeout), and anything more is
    /// [`Connect`](cosmos_core::FailureKind::Connect).
    pub fn connector<C>(mut self, connector: C) -> Self
    where
        C: Service<Uri> + Clone + Send + Sync + 'static,
        C::Response: Read + Write + Connection + Unpin + Send + 'static,
        C::Error: Into<BoxError>,
        C::Future: Send + 'static,
    {
        self.dial = Some(Dial::through(connector));
        self
    }

    /// Builds the client. It connects when it is used.
    ///
    /// # Errors
    /// A setting out of its range, or no default trust on this platform.
    pub fn build(self) -> Result<Leaf, SettingError> {
        self.check()?;
        let mut tls = match &self.tls {
            Some(config) => config.clone(),
            None => platform_trust()?,
        };
        tls.alpn_protocols = match self.protocol {
            Protocol::Auto => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
            Protocol::Http1 => vec![b"http/1.1".to_vec()],
            Protocol::Http2 => vec![b"h2".to_vec()],
        };
        let dial = match &self.dial {
            Some(dial) => dial.clone(),
            None => Dial::tcp(Resolver::new(self.resolver.clone()), self.connect_limit),
        };
        let connector = Connector::new(dial, Arc::new(tls), self.connect_limit, self.protocol);
        Ok(Leaf {
            shared: Arc::new(Shared {
                connect_limit: self.connect_limit,
                limits: self.limits,
                make: self.clients(connector),
                authorities: Mutex::new(Some(Authorities::new(self.authorities))),
            }),
        })
    }

    fn check(&self) -> Result<(), SettingError> {
        let Limits {
            initial,
            max,
            streams,
            retirement,
        } = self.limits;
        let wrong = [
            (self.connect_limit.is_zero(), "connect_limit", "is zero"),
            (initial == 0, "shards", "there must be one to begin with"),
            (initial > max, "shards", "begins with more than the maximum"),
            (max > 1024, "shards", "more than 1024"),
            (streams == 0, "streams", "is zero"),
            (streams > 10_000, "streams", "more than 10 000"),
            (retirement.failures == 0, "retire_after", "is zero"),
            (retirement.age.is_zero(), "max_age", "is zero"),
            (self.authorities == 0, "authorities", "is zero"),
            (
                self.ping_interval.is_zero(),
                "http2_pings",
                "interval is zero",
            ),
            (
                self.ping_timeout.is_zero(),
                "http2_pings",
                "timeout is zero",
            ),
            (self.header_limit < 8192, "header_limit", "less than 8192"),
        ];
        match wrong.iter().find(|(wrong, ..)| *wrong) {
            Some((_, setting, problem)) => Err(SettingError::new(setting, problem)),
            None => Ok(()),
        }
    }

    /// What makes the client of a new shard.
    fn clients(&self, connector: Connector) -> MakeClient {
        // The pool and hyper add these to the time that it is.
        let [idle_limit, ping_interval] =
            [self.idle_limit, self.ping_interval].map(|limit| limit.min(FOR_EVER));
        let mut builder = Client::builder(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(idle_limit)
            .http1_max_buf_size(usize::try_from(self.header_limit).unwrap_or(usize::MAX))
            .http2_max_header_list_size(self.header_limit)
            .http2_keep_alive_interval(ping_interval)
            .http2_keep_alive_timeout(self.ping_timeout)
            .http2_keep_alive_while_idle(true);
        if self.idle_limit.is_zero() {
            // Without a pool; a pool with this limit would still hand out fresh connections.
            builder.pool_max_idle_per_host(0);
            return Arc::new(move || builder.build(connector.clone()));
        }
        Arc::new(move || builder.build(connector.gated()))
    }
}

impl fmt::Debug for LeafBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeafBuilder")
            .field("protocol", &self.protocol)
            .field("connect_limit", &self.connect_limit)
            .field("limits", &self.limits)
            .field("authorities", &self.authorities)
            .field("idle_limit", &self.idle_limit)
            .field("ping_interval", &self.ping_interval)
            .field("ping_timeout", &self.ping_timeout)
            .field("header_limit", &self.header_limit)
            .field("tls_config_given", &self.tls.is_some())
            .field("resolver_given", &self.resolver.is_some())
            .field("connector_given", &self.dial.is_some())
            .finish()
    }
}

fn platform_trust() -> Result<ClientConfig, SettingError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let trusting = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(ConfigBuilderExt::try_with_platform_verifier)
        .map_err(|_| SettingError::new("tls_config", "the platform has no roots: give your own"))?;
    Ok(trusting.with_no_client_auth())
}
