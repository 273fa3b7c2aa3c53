//! The tokens learned so far: per container and partition key range, bounded.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use cosmos_core::session::{SessionToken, segments};
use parking_lot::Mutex;

/// The most partition key ranges whose tokens are kept for one container.
const MAX_RANGES: usize = 4096;

/// The longest value that is put on a request, in bytes: more than that the service refuses.
const MAX_VALUE: usize = 16 * 1024;

#[derive(Debug)]
pub(super) struct Store {
    max_containers: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    containers: HashMap<Box<str>, Container>,
    // Grows with every use, to find the container used longest ago.
    uses: u64,
}

#[derive(Debug, Default)]
struct Container {
    rid: Option<Box<str>>,
    ranges: BTreeMap<Box<str>, SessionToken>,
    used: u64,
}

impl Store {
    pub(super) fn new(max_containers: usize) -> Self {
        Self {
            max_containers,
            state: Mutex::default(),
        }
    }

    /// The tokens to send: the range's, or all of the container's while the range is not known.
    pub(super) fn value(&self, container: &str, range: Option<&str>) -> Option<String> {
        let mut state = self.state.lock();
        state.uses += 1;
        let uses = state.uses;
        let container = state.containers.get_mut(container)?;
        container.used = uses;
        let mut value = String::new();
        for (id, token) in &container.ranges {
            if range.is_none_or(|range| range == &**id) {
                if !value.is_empty() {
                    value.push(',');
                }
                // Writing to a string cannot fail.
                let _ = write!(value, "{id}:{token}");
            }
        }
        (!value.is_empty() && value.len() <= MAX_VALUE).then_some(value)
    }

    /// Learns from an answer: its token, the range that it says it is from, its container's RID.
    pub(super) fn learn(&self, name: &str, rid: Option<&str>, range: Option<&str>, value: &str) {
        let mut state = self.state.lock();
        state.uses += 1;
        let uses = state.uses;
        if !state.containers.contains_key(name) {
            state.make_room(self.max_containers);
        }
        let container = state.containers.entry(name.into()).or_default();
        container.used = uses;
        if let Some(rid) = rid {
            // Another container under the same name: its tokens start anew.
            if container.rid.as_deref().is_some_and(|known| known != rid) {
                container.ranges.clear();
            }
            container.rid = Some(rid.into());
        }
        let mut learned: Vec<_> = segments(value).collect();
        if let (Some(range), [only]) = (range, learned.as_mut_slice()) {
            only.0 = range;
        }
        for (id, token) in learned {
            if let Some(known) = container.ranges.get_mut(id) {
                *known = known.merge(&token);
            } else if container.ranges.len() < MAX_RANGES {
                container.ranges.insert(id.into(), token);
            }
        }
    }

    /// The container is gone.
    pub(super) fn forget(&self, container: &str) {
        self.state.lock().containers.remove(container);
    }
}

impl State {
    fn make_room(&mut self, max: usize) {
        while self.containers.len() >= max.max(1) {
            let oldest = self
                .containers
                .iter()
                .min_by_key(|(_, container)| container.used);
            let Some(name) = oldest.map(|(name, _)| name.clone()) else {
                return;
            };
            self.containers.remove(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_merge_per_range_and_containers_stay_apart() {
        let store = Store::new(10);
        store.learn("a", None, None, "0:1#5#1=2");
        store.learn("a", None, Some("1"), "0:1#9");
        store.learn("a", None, None, "0:1#4#1=3");
        store.learn("b", None, None, "0:1#99");
        assert_eq!(store.value("a", None).unwrap(), "0:1#5#1=3,1:1#9");
        assert_eq!(store.value("a", Some("1")).unwrap(), "1:1#9");
        assert_eq!(store.value("a", Some("7")), None);
        assert_eq!(store.value("c", None), None);
    }

    #[test]
    fn a_container_that_was_made_anew_starts_anew() {
        let store = Store::new(10);
        store.learn("a", Some("rid1"), None, "0:1#5");
        store.learn("a", Some("rid2"), None, "0:1#1");
        assert_eq!(store.value("a", None).unwrap(), "0:1#1");
        store.forget("a");
        assert_eq!(store.value("a", None), None);
    }

    #[test]
    fn it_stays_bounded_and_forgets_what_was_used_longest_ago() {
        let store = Store::new(2);
        store.learn("a", None, None, "0:1");
        store.learn("b", None, None, "0:1");
        assert!(store.value("a", None).is_some());
        store.learn("c", None, None, "0:1");
        assert!(store.value("b", None).is_none());
        for range in 0..10_000 {
            store.learn("a", None, None, &format!("{range}:1"));
        }
        assert_eq!(store.state.lock().containers["a"].ranges.len(), MAX_RANGES);
        assert_eq!(store.value("a", None), None, "too long to send");
        assert!(store.value("a", Some("17")).is_some());
    }
}
