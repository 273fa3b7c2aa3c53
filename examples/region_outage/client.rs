//! What the load needs of a client, and how an operation ended.

use std::error::Error;
use std::future::Future;

use bytes::Bytes;
use cosmos_core::{Journal, Status};
use http::{Request, Response};
use http_body_util::Full;
use tokio::time::Instant;
use tower_cosmos::transport;

/// Something that the load can be offered to.
pub(crate) trait Client: Clone + Send + Sync + 'static {
    /// Performs one operation. It is over by the deadline, or has failed.
    fn perform(
        &self,
        request: Request<Full<Bytes>>,
        deadline: Instant,
    ) -> impl Future<Output = Answer> + Send;
}

/// How an operation ended.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Why it failed, in a word, if it did.
    pub(crate) failure: Option<String>,
    /// What was tried, if the client keeps a journal.
    pub(crate) journal: Option<Journal>,
}

impl Answer {
    /// An answer counts as good if its status is 2xx.
    pub(crate) fn of<B, E>(result: &Result<Response<B>, E>) -> Self
    where
        E: AsRef<dyn Error + Send + Sync + 'static>,
    {
        let failure = match result {
            Ok(response) => {
                let status = Status::of_response(response);
                (!status.is_success()).then(|| status.to_string())
            }
            Err(error) => Some(transport::classify(error.as_ref()).to_string()),
        };
        Self {
            failure,
            journal: None,
        }
    }

    /// The operation was given up.
    pub(crate) fn given_up(why: &str) -> Self {
        Self {
            failure: Some(why.to_owned()),
            journal: None,
        }
    }

    pub(crate) fn with_journal(mut self, journal: Option<Journal>) -> Self {
        self.journal = journal;
        self
    }
}
