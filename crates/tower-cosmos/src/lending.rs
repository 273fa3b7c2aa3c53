//! Services that are lent to the operations that call them.
//!
//! A further try has to go to the very service that was called, and whoever holds the layer may
//! call it again meanwhile. Cloning the service before each call does for both, but clones all
//! that is below once for each layer that may try again. So the service is lent: an operation
//! shares it until it is over, and only a lender that is asked for it before then makes a clone.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

/// A service and the policy for trying it again.
pub(crate) struct Lender<P, S>(Arc<Shared<P, S>>);

/// A service that was called, for further tries, and the policy.
pub(crate) struct Lent<P, S> {
    shared: Arc<Shared<P, S>>,
    // The service, from the first further try on: then the lender has another.
    own: Option<Box<S>>,
}

struct Shared<P, S> {
    policy: P,
    // Locked for the time of a clone.
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
            own: None,
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
    /// The service that was called, for this operation alone. The lender goes on with a clone, if there
    /// still is one: readiness that is got for a further try is nothing to be left with it, and nothing of
    /// the service's is called under a lock.
    pub(crate) fn service(&mut self) -> &mut S {
        let Self { shared, own } = self;
        if own.is_none() && Arc::get_mut(shared).is_none() {
            let mut service = shared.service.lock();
            let clone = service.clone();
            *own = Some(Box::new(std::mem::replace(&mut *service, clone)));
        }
        match (own, Arc::get_mut(shared)) {
            (Some(own), _) => own,
            (None, Some(shared)) => shared.service.get_mut(),
            (None, None) => unreachable!("who is alone with it stays alone"),
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
            .field("service", &self.0.service)
            .finish()
    }
}
