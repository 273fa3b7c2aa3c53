//! What the load consists of: reads and, one in ten, upserts of the seeded items.

use bytes::Bytes;
use cosmos_core::PartitionKey;
use cosmos_core::requests::{self, RequestError};
use http::Request;
use http_body_util::Full;
use serde_json::json;

use crate::setup::{CONTAINER, DATABASE, ITEMS, item_id};

/// Every so many operations, one is an upsert.
const WRITE_EVERY: u64 = 10;

/// One operation of the load. Both clients get the same ones at the same times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    number: u64,
}

impl Operation {
    pub(crate) fn new(number: u64) -> Self {
        Self { number }
    }

    pub(crate) fn is_write(self) -> bool {
        self.number % WRITE_EVERY == WRITE_EVERY - 1
    }

    /// The request, the same on every run.
    pub(crate) fn request(self) -> Result<Request<Full<Bytes>>, RequestError> {
        let id = item_id(fastrand::Rng::with_seed(self.number).u64(0..ITEMS));
        let key = PartitionKey::from(&id);
        if self.is_write() {
            let item = json!({ "id": id, "customer": id, "revision": self.number });
            requests::upsert_item(DATABASE, CONTAINER, &key, item).build()
        } else {
            requests::read_item(DATABASE, CONTAINER, &id, &key).build()
        }
    }
}
