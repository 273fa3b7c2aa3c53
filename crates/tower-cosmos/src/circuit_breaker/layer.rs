use std::sync::Arc;

use cosmos_core::Route;
use cosmos_core::health::{BreakerOptions, BreakerSettings};
use cosmos_core::policy::SettingError;
use http::Request;
use tower_layer::Layer;

use super::Circuits;
use super::breaker::PartitionBreaker;
use crate::Account;
use crate::prepare::{Preparation, Prepare};

/// Layers [`CircuitBreaker`]. See the [module](super). Services made by one layer share their
/// circuits.
#[derive(Clone, Debug)]
#[must_use]
pub struct CircuitBreakerLayer {
    preparation: CircuitBreakerPreparation,
}

impl CircuitBreakerLayer {
    /// A layer with the settings that the environment gives, else the defaults.
    pub fn new(account: Account) -> Self {
        // Only what code sets can be wrong.
        let settings = BreakerOptions::new().resolve(environment);
        Self::with(account, settings.unwrap_or_default())
    }

    /// Sets options in code. What they leave open comes from the environment. The layer's circuits
    /// begin anew.
    ///
    /// # Errors
    /// [`SettingError`] if a number is outside of what it can be.
    pub fn options(self, options: BreakerOptions) -> Result<Self, SettingError> {
        let settings = options.resolve(environment)?;
        Ok(self.settings(settings))
    }

    /// Sets everything, whatever the environment says. The layer's circuits begin anew.
    pub fn settings(self, settings: BreakerSettings) -> Self {
        Self::with(self.preparation.account, settings)
    }

    fn with(account: Account, settings: BreakerSettings) -> Self {
        let breaker = Arc::new(PartitionBreaker::new(settings, account.sequence()));
        Self {
            preparation: CircuitBreakerPreparation { account, breaker },
        }
    }

    /// The layer's circuits, for operators. To be taken last: other options or settings begin with
    /// other circuits, and a handle from before sees nothing of them.
    #[must_use]
    pub fn circuits(&self) -> Circuits {
        Circuits::new(Arc::clone(&self.preparation.breaker))
    }
}

impl<S> Layer<S> for CircuitBreakerLayer {
    type Service = CircuitBreaker<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Prepare::with(inner, self.preparation.clone())
    }
}

/// Sends partitions elsewhere that fail in a region. See the [module](super).
pub type CircuitBreaker<S> = Prepare<CircuitBreakerPreparation, S>;

impl<S> CircuitBreaker<S> {
    /// Wraps a service with circuits of its own.
    pub fn new(inner: S, account: Account) -> Self {
        CircuitBreakerLayer::new(account).layer(inner)
    }

    /// A layer for the account.
    pub fn layer(account: Account) -> CircuitBreakerLayer {
        CircuitBreakerLayer::new(account)
    }
}

/// Plants the circuits.
#[derive(Clone, Debug)]
pub struct CircuitBreakerPreparation {
    account: Account,
    breaker: Arc<PartitionBreaker>,
}

impl Preparation for CircuitBreakerPreparation {
    fn is_off(&self) -> bool {
        !self.breaker.circuits.settings().enabled()
    }

    fn account(&self) -> &Account {
        &self.account
    }

    fn prepare<B>(&self, _: &Request<B>, route: &Route) {
        route.plant_breaker(self.account.id(), || Arc::clone(&self.breaker) as _);
    }
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
