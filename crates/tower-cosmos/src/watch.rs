//! A value whose changes tasks wait for.
//!
//! Like `tokio::sync::watch`, but who waits is woken in the order in which they came. Tokio's wakes
//! them in an order of chance, so no number could reproduce a run of a simulation.

use std::fmt;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

/// Changes the value.
pub(crate) struct Sender<T>(Arc<Shared<T>>);

/// Waits for changes.
pub(crate) struct Receiver<T> {
    shared: Arc<Shared<T>>,
    // The change seen last.
    seen: u64,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Notify,
}

struct State<T> {
    value: T,
    changes: u64,
}

impl<T> Sender<T> {
    pub(crate) fn new(value: T) -> Self {
        let state = State { value, changes: 0 };
        Self(Arc::new(Shared {
            state: Mutex::new(state),
            changed: Notify::new(),
        }))
    }

    /// Waits for changes from now on.
    pub(crate) fn subscribe(&self) -> Receiver<T> {
        let seen = self.0.state.lock().changes;
        Receiver {
            shared: Arc::clone(&self.0),
            seen,
        }
    }

    pub(crate) fn send_modify(&self, modify: impl FnOnce(&mut T)) {
        let mut state = self.0.state.lock();
        modify(&mut state.value);
        state.changes += 1;
        drop(state);
        self.0.changed.notify_waiters();
    }
}

impl<T: Clone> Sender<T> {
    pub(crate) fn get(&self) -> T {
        self.0.state.lock().value.clone()
    }
}

impl<T> Receiver<T> {
    /// Waits for a change that was not seen yet. For ever, if none can come: whoever waits keeps
    /// the sender alive.
    pub(crate) async fn changed(&mut self) {
        let shared = Arc::clone(&self.shared);
        loop {
            // Before the look, so that no change falls in between.
            let changed = shared.changed.notified();
            if self.see(&shared.state.lock()) {
                return;
            }
            changed.await;
        }
    }

    /// Sees the last change. Returns whether it is a new one.
    fn see(&mut self, state: &MutexGuard<'_, State<T>>) -> bool {
        let is_new = state.changes != self.seen;
        self.seen = state.changes;
        is_new
    }
}

impl<T: Clone> Receiver<T> {
    /// The value as it is, its changes seen.
    pub(crate) fn get(&mut self) -> T {
        let shared = Arc::clone(&self.shared);
        let state = shared.state.lock();
        self.see(&state);
        state.value.clone()
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Sender;

    #[tokio::test]
    async fn a_change_is_seen_once_even_if_it_came_before_anyone_waited() {
        let sender = Sender::new(0);
        let mut receiver = sender.subscribe();
        sender.send_modify(|value| *value = 1);
        receiver.changed().await;
        assert_eq!(receiver.get(), 1);
        sender.send_modify(|value| *value = 2);
        assert_eq!(receiver.get(), 2);
        let again = tokio::time::timeout(std::time::Duration::ZERO, receiver.changed());
        assert!(again.await.is_err(), "seen by getting the value");
    }

    #[tokio::test]
    async fn who_waits_is_woken_in_order() {
        let sender = Sender::new(());
        let order = std::sync::Arc::new(super::Mutex::new(Vec::new()));
        let waiting: Vec<_> = (0..50)
            .map(|number| {
                let (mut receiver, order) = (sender.subscribe(), order.clone());
                tokio::spawn(async move {
                    receiver.changed().await;
                    order.lock().push(number);
                })
            })
            .collect();
        tokio::task::yield_now().await;
        sender.send_modify(|()| {});
        for task in waiting {
            task.await.expect("no panic");
        }
        assert!(order.lock().is_sorted());
    }
}
