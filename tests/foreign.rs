//! Layers that are not ours.

use std::future::{Ready, ready};

use cosmos_core::BoxError;
use tower::retry::Policy;

use crate::{Req, Res};

/// Sends everything that does not succeed again, at once, a number of times: the policy of a
/// `tower::retry` that knows nothing of ours.
#[derive(Clone, Debug)]
pub struct Again(pub usize);

impl Policy<Req, Res, BoxError> for Again {
    type Future = Ready<()>;

    fn retry(&mut self, _: &mut Req, result: &mut Result<Res, BoxError>) -> Option<Ready<()>> {
        let failed = !matches!(result, Ok(response) if response.status().is_success());
        (failed && self.0 > 0).then(|| {
            self.0 -= 1;
            ready(())
        })
    }

    fn clone_request(&mut self, request: &Req) -> Option<Req> {
        Some(request.clone())
    }
}
