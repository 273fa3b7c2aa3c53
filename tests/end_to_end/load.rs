//! Operations that go on while something happens to the account.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cosmos_client::CosmosClient;
use cosmos_tests::{Req, Seen, ms};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::harness::{World, all_succeeded, read, upsert};

/// Operations one after the other, in several tasks, until it is stopped.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<Vec<(Instant, Seen)>>>,
}

impl Load {
    /// `request` makes the operation of this number.
    pub(crate) fn start(
        world: &Arc<World>,
        client: &CosmosClient,
        request: impl Fn(usize) -> Req + Clone + Send + 'static,
    ) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let tasks = (0..4)
            .map(|task| {
                let (world, client) = (Arc::clone(world), client.clone());
                let (stop, request) = (Arc::clone(&stop), request.clone());
                tokio::spawn(async move {
                    let mut seen = Vec::new();
                    while !stop.load(Ordering::Relaxed) {
                        let began = Instant::now();
                        let request = request(task + 4 * seen.len());
                        seen.push((began, world.send(&client, request).await));
                        tokio::time::sleep(ms(4)).await;
                    }
                    seen
                })
            })
            .collect();
        Self { stop, tasks }
    }

    pub(crate) fn writes(world: &Arc<World>, client: &CosmosClient) -> Self {
        Self::start(world, client, |_| upsert(1))
    }

    pub(crate) fn reads(world: &Arc<World>, client: &CosmosClient) -> Self {
        Self::start(world, client, |_| read())
    }

    pub(crate) async fn stop(self) -> Vec<(Instant, Seen)> {
        self.stop.store(true, Ordering::Relaxed);
        let mut all = Vec::new();
        for task in self.tasks {
            all.extend(task.await.unwrap());
        }
        all
    }

    pub(crate) async fn none_failed(self, what: &str) -> Vec<Seen> {
        let seen: Vec<_> = self
            .stop()
            .await
            .into_iter()
            .map(|(_, seen)| seen)
            .collect();
        assert!(!seen.is_empty());
        all_succeeded(what, &seen);
        seen
    }
}
