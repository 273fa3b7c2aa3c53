//! Services that are lent to the operations that call them.
//!
//! A further try has to go to the very service that was called, and whoever holds the layer may
//! call it again meanwhile. Cloning the service before each call does for both, but clones all
//! that is below once for each layer that may try again. So the service is lent: an operation
//! shares it until it is over, and only a lender that is asked for it before then makes a clone.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Request;
use parking_lot::Mutex;
use tower_service::Service;

/// A service and the policy for trying it again.
pub(crate) struct Lender<P, S>(Arc<Shared<P, S>>);

/// A service that was called, for further tries, and the policy.
pub(crate) struct Lent<P, S> {
    shared: Arc<Shared<P, S>>,
    // The service, once the operation waits for it to be ready, or it has failed: then the lender has
    // another.
    kept: Option<Box<S>>,
}

struct Shared<P, S> {
    policy: P,
    // Locked for the time of a call, of a look at its readiness, or of a clone.
    service: Mutex<S>,
}

impl<P, S> Lender<P, S> {
    pub(crate) fn new(policy: P, service: S) -> Self {
        let service = Mutex::new(service);
        Self(Arc::new(Shared { policy, service }))
    }

    pub(crate) fn policy(&self) -> &P {
        &self.0.policy
    }

    /// Lends the service that was called.
    pub(crate) fn lend(&self) -> Lent<P, S> {
        Lent {
            shared: Arc::clone(&self.0),
            kept: None,
        }
    }
}

impl<P: Clone, S: Clone> Lender<P, S> {
    /// The service, for the lender alone: a clone if it is still lent.
    pub(crate) fn get(&mut self) -> &mut S {
        Arc::make_mut(&mut self.0).service.get_mut()
    }
}

impl<P, S> Lent<P, S> {
    pub(crate) fn policy(&self) -> &P {
        &self.shared.policy
    }
}

impl<P, S: Clone> Lent<P, S> {
    /// Gets the service ready. Once it is, it has to be called before the operation waits again:
    /// the lender must not get it back with a readiness that keeps a place from others.
    pub(crate) fn poll_ready<B>(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>>
    where
        S: Service<Request<B>>,
    {
        if let Some(service) = &mut self.kept {
            return service.poll_ready(cx);
        }
        let mut service = self.shared.service.lock();
        let ready = service.poll_ready(cx);
        if !matches!(ready, Poll::Ready(Ok(()))) {
            let clone = service.clone();
            self.kept = Some(Box::new(std::mem::replace(&mut *service, clone)));
        }
        ready
    }

    /// Calls the service, which is ready.
    pub(crate) fn call<B>(&mut self, request: Request<B>) -> S::Future
    where
        S: Service<Request<B>>,
    {
        match &mut self.kept {
            Some(service) => service.call(request),
            None => self.shared.service.lock().call(request),
        }
    }
}

impl<P: Clone, S: Clone> Clone for Shared<P, S> {
    fn clone(&self) -> Self {
        Self {
            policy: self.policy.clone(),
            service: Mutex::new(self.service.lock().clone()),
        }
    }
}

impl<P: Clone, S: Clone> Clone for Lender<P, S> {
    fn clone(&self) -> Self {
        Self(Arc::new(Shared::clone(&self.0)))
    }
}

impl<P: fmt::Debug, S: fmt::Debug> fmt::Debug for Lender<P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lender")
            .field("policy", &self.0.policy)
            .field("service", &*self.0.service.lock())
            .finish()
    }
}
