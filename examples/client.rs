//! What the load needs of a client, and how an operation ended.

use std::error::Error;
use std::future::Future;

use bytes::Bytes;
use cosmos_client::CosmosClient;
use cosmos_core::{Journal, JournalSlot, OperationOptions, Status};
use http::{Request, Response};
use http_body_util::Full;
use tokio::time::Instant;
use tower::ServiceExt;
use tower_cosmos::transport;

/// Something that the load can be offered to.
pub trait Client: Clone + Send + Sync + 'static {
    /// Performs one operation. It is over by the deadline, or has failed.
    fn perform(
        &self,
        request: Request<Full<Bytes>>,
        deadline: Instant,
    ) -> impl Future<Output = Answer> + Send;
}

/// How an operation ended.
#[derive(Debug)]
pub struct Answer {
    /// Why it failed, in a word, if it did.
    pub failure: Option<String>,
    /// What was tried, if the client keeps a journal.
    pub journal: Option<Journal>,
}

impl Answer {
    /// An answer counts as good if its status is 2xx.
    #[must_use]
    pub fn of<B, E>(result: &Result<Response<B>, E>) -> Self
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
    #[must_use]
    pub fn given_up(why: &str) -> Self {
        Self {
            failure: Some(why.to_owned()),
            journal: None,
        }
    }

    /// With the operation's journal.
    #[must_use]
    pub fn with_journal(mut self, journal: Option<Journal>) -> Self {
        self.journal = journal;
        self
    }
}

/// A client with all layers.
impl Client for CosmosClient {
    async fn perform(&self, mut request: Request<Full<Bytes>>, deadline: Instant) -> Answer {
        // The slot has the journal however the operation ends.
        let slot = JournalSlot::new();
        let options = OperationOptions::new()
            .deadline(deadline.into_std())
            .journal_slot(&slot);
        request.extensions_mut().insert(options);
        let result = self.clone().oneshot(request).await;
        Answer::of(&result).with_journal(slot.journal())
    }
}
