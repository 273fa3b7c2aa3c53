//! How an account is made.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use cosmos_core::policy::{Jitter, SettingError};
use cosmos_core::retry_guard::RetryGuardOptions;
use cosmos_core::{
    AccountId, BoxError, Endpoint, EndpointError, Region, RegionError, RegionSet, Topology,
};
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use parking_lot::Mutex;
use tower_service::Service;

use super::reader::Reader;
use super::refresh::{RefreshSettings, Refresher};
use super::{Account, Classify, Inner, Marks, Observer};
use crate::clock::{Clock, FOR_EVER};
use crate::credential::Credential;

/// Why an account cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// An endpoint is none.
    #[error("endpoint: {0}")]
    Endpoint(#[from] EndpointError),
    /// A region's name is none.
    #[error("region: {0}")]
    Region(#[from] RegionError),
    /// A setting is out of range.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

/// Makes an [`Account`]; every setting has a default.
#[must_use]
pub struct AccountBuilder {
    endpoint: String,
    credential: Arc<dyn Credential>,
    preferred: Vec<String>,
    excluded: Vec<String>,
    fallbacks: Vec<String>,
    discovery: bool,
    mark_duration: Duration,
    settings: RefreshSettings,
    clock: Clock,
    classify: Option<Box<dyn Classify>>,
    guard: Option<RetryGuardOptions>,
}

impl Account {
    /// An account with default settings. `leaf` reads the account document; it needs no layers.
    ///
    /// # Errors
    /// [`AccountError`] if the endpoint is no `http` or `https` URL with a host.
    pub fn new<L, R>(
        endpoint: &str,
        credential: impl Credential,
        leaf: L,
    ) -> Result<Self, AccountError>
    where
        L: Service<Request<Full<Bytes>>, Response = Response<R>> + Clone + Send + Sync + 'static,
        L::Error: Into<BoxError>,
        L::Future: Send,
        R: Body<Data = Bytes> + Send + 'static,
        R::Error: Into<BoxError>,
    {
        Self::builder(endpoint, credential).build(leaf)
    }

    /// Begins an account at its global endpoint.
    pub fn builder(endpoint: &str, credential: impl Credential) -> AccountBuilder {
        AccountBuilder {
            endpoint: endpoint.to_owned(),
            credential: Arc::new(credential),
            preferred: Vec::new(),
            excluded: Vec::new(),
            fallbacks: Vec::new(),
            discovery: true,
            mark_duration: Duration::from_secs(60),
            settings: RefreshSettings::default(),
            clock: Clock::system(),
            classify: None,
            guard: None,
        }
    }
}

impl AccountBuilder {
    /// The regions to prefer, best first. Default: the account's own order. A name that the
    /// account does not have is a warning in the log.
    pub fn preferred_regions<N: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = N>,
    ) -> Self {
        self.preferred = names.into_iter().map(Into::into).collect();
        self
    }

    /// Regions that no data operation may use, in addition to what an operation's own options
    /// exclude. Default: none.
    pub fn excluded_regions<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.excluded = names.into_iter().map(Into::into).collect();
        self
    }

    /// Regional endpoints to read the account document from while no region is known and the
    /// global endpoint does not answer. Default: none.
    pub fn fallback_endpoints<N: Into<String>>(
        mut self,
        endpoints: impl IntoIterator<Item = N>,
    ) -> Self {
        self.fallbacks = endpoints.into_iter().map(Into::into).collect();
        self
    }

    /// With `false`, the account document is never read and everything goes to the given
    /// endpoint, whatever happens. Default `true`.
    pub fn discovery(mut self, discovery: bool) -> Self {
        self.discovery = discovery;
        self
    }

    /// The shortest time between two refreshes. Default 5 s.
    pub fn refresh_interval(mut self, interval: Duration) -> Self {
        self.settings.interval = interval;
        self
    }

    /// The time between two refreshes that nothing asked for, varied by a tenth either way.
    /// Default 5 min.
    pub fn background_period(mut self, period: Duration) -> Self {
        self.settings.period = period;
        self
    }

    /// How long one endpoint may take to give the account document, or what it says of a container.
    /// Default 5 s.
    pub fn read_timeout(mut self, timeout: Duration) -> Self {
        self.settings.read_timeout = timeout;
        self
    }

    /// How long a region is avoided after it was marked, before one request at a time tries it;
    /// lengthened by up to a quarter. Default 60 s.
    pub fn mark_duration(mut self, duration: Duration) -> Self {
        self.mark_duration = duration;
        self
    }

    /// Where the random part of waits comes from. Default [`Jitter::Random`].
    pub fn jitter(mut self, jitter: Jitter) -> Self {
        self.settings.jitter = jitter;
        self
    }

    /// The clock for dates and signatures. Default: the system's.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Overrules the specification's verdict for chosen outcomes, for all layers. What the journal's
    /// gate forbids stays forbidden: a stored procedure that may have run is not sent again. An
    /// endpoint's marks do not depend on it. Default: the specification.
    pub fn classify(mut self, classify: impl Classify) -> Self {
        self.classify = Some(Box::new(classify));
        self
    }

    /// Bounds the retries of all layers, per region, to a share of what succeeds there, so that they
    /// do not keep down what fails under load. First attempts are never asked, nor are moves after
    /// 403/3 and 403/1008. A retry that the guard refuses is not made: the last answer is surfaced.
    /// Default: no guard.
    pub fn retry_guard(mut self, options: RetryGuardOptions) -> Self {
        self.guard = Some(options);
        self
    }

    /// Makes the account. Nothing is read before the first operation asks for it.
    ///
    /// # Errors
    /// [`AccountError`] if an endpoint, a region's name or a setting is none.
    pub fn build<L, R>(self, leaf: L) -> Result<Account, AccountError>
    where
        L: Service<Request<Full<Bytes>>, Response = Response<R>> + Clone + Send + Sync + 'static,
        L::Error: Into<BoxError>,
        L::Future: Send,
        R: Body<Data = Bytes> + Send + 'static,
        R::Error: Into<BoxError>,
    {
        self.check()?;
        let settings = RefreshSettings {
            interval: self.settings.interval.min(FOR_EVER),
            period: self.settings.period.min(FOR_EVER),
            ..self.settings
        };
        let mark_duration = self.mark_duration.min(FOR_EVER);
        let global = Endpoint::parse(&self.endpoint)?;
        let regions = |names: &[String]| -> Result<Vec<Region>, RegionError> {
            names.iter().map(|name| Region::named(name)).collect()
        };
        let preferred = regions(&self.preferred)?;
        let excluded: RegionSet = regions(&self.excluded)?.into_iter().collect();
        warn_of_unknown(&preferred, "preferred");
        warn_of_unknown(&excluded.iter().collect::<Vec<_>>(), "excluded");
        let fallbacks = self
            .fallbacks
            .iter()
            .map(|endpoint| Endpoint::parse(endpoint))
            .collect::<Result<Vec<_>, _>>()?;
        let guard = self.guard.map(RetryGuardOptions::build).transpose()?;
        let topology = (!self.discovery).then(|| Arc::new(Topology::fixed(&global)));
        let marks = Arc::new(Marks::new(mark_duration, settings.jitter));
        let reader = Reader::new(leaf, self.credential, self.clock.clone(), settings);
        let refresher = Refresher::new(reader, fallbacks, settings, self.discovery);
        Ok(Account(Arc::new_cyclic(|inner| Inner {
            id: AccountId::unique(),
            global,
            preferred,
            excluded,
            topology: ArcSwapOption::new(topology),
            marks: Arc::clone(&marks),
            refresher,
            observer: Arc::new(Observer {
                account: inner.clone(),
                marks,
                has_guard: guard.is_some(),
                has_verdicts: self.classify.is_some(),
            }),
            sequence: Arc::new(AtomicU64::new(0)),
            clock: self.clock,
            classify: self.classify,
            guard,
            watchers: Mutex::default(),
        })))
    }

    fn check(&self) -> Result<(), SettingError> {
        let positive = [
            (self.settings.interval, "refresh_interval"),
            (self.settings.period, "background_period"),
            (self.settings.read_timeout, "read_timeout"),
            (self.mark_duration, "mark_duration"),
        ];
        for (duration, setting) in positive {
            if duration.is_zero() {
                return Err(SettingError::new(setting, "must be longer than nothing"));
            }
        }
        if self.settings.period < self.settings.interval {
            return Err(SettingError::new(
                "background_period",
                "is shorter than refresh_interval",
            ));
        }
        Ok(())
    }
}

impl fmt::Debug for AccountBuilder {
    /// Without the endpoints: nobody has looked yet whether they carry a password, or are a
    /// connection string.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccountBuilder")
            .field("preferred", &self.preferred)
            .field("excluded", &self.excluded)
            .field("discovery", &self.discovery)
            .field("mark_duration", &self.mark_duration)
            .field("settings", &self.settings)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

fn warn_of_unknown(regions: &[Region], list: &'static str) {
    for region in regions.iter().filter(|region| !region.is_known()) {
        tracing::warn!(
            cosmos.region = region.name(),
            list,
            "not a known Azure region"
        );
    }
}
