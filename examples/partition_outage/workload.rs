//! What the load consists of: reads and, one in ten, upserts of the seeded items.

use bytes::Bytes;
use cosmos_core::PartitionKey;
use cosmos_core::requests::{self, RequestError};
use http::Request;
use http_body_util::Full;
use serde_json::json;

use crate::setup::{CONTAINER, DATABASE, World};

/// Every so many operations, one is an upsert.
const WRITE_EVERY: u64 = 10;

/// One operation of the load, the same on every run.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    number: u64,
    key: String,
    range: usize,
}

impl Operation {
    pub(crate) fn new(number: u64, world: &World) -> Self {
        let index = fastrand::Rng::with_seed(number).usize(0..world.keys.len());
        let (key, range) = world.keys[index].clone();
        Self { number, key, range }
    }

    /// Whether it is for the partition that gets sick.
    pub(crate) fn is_sick(&self) -> bool {
        self.range == 0
    }

    pub(crate) fn request(&self) -> Result<Request<Full<Bytes>>, RequestError> {
        let (id, key) = (&self.key, PartitionKey::from(&self.key));
        if self.number % WRITE_EVERY == WRITE_EVERY - 1 {
            let item = json!({ "id": id, "customer": id, "revision": self.number });
            requests::upsert_item(DATABASE, CONTAINER, &key, item).build()
        } else {
            requests::read_item(DATABASE, CONTAINER, id, &key).build()
        }
    }
}
