//! The tokens learned so far: per container and partition key range, bounded.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::{self, Write};

use cosmos_core::RangeId;
use cosmos_core::session::{SessionToken, segments};
use parking_lot::Mutex;

/// The most partition key ranges whose tokens are kept for one container.
const MAX_RANGES: usize = 4096;

/// The most ranges that one is known to have become before the map of ranges is read again.
const MAX_SUCCESSORS: usize = 16;

/// The longest value that is put on a request, in bytes: more than that the service refuses.
const MAX_VALUE: usize = 16 * 1024;

pub(super) struct Store {
    max_containers: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    containers: HashMap<Box<str>, Container>,
    // Grows with every use, to find the container used longest ago.
    uses: u64,
}

#[derive(Default)]
struct Container {
    rid: Option<Box<str>>,
    ranges: BTreeMap<RangeId, SessionToken>,
    // The ranges that have answered operations that were taken to be for another one: until the map
    // of ranges is read again, operations are still taken to be for that one.
    successors: BTreeMap<RangeId, BTreeSet<RangeId>>,
    used: u64,
}

impl fmt::Debug for Store {
    /// Without the tokens: they are for the service alone.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("max_containers", &self.max_containers)
            .field("containers", &self.state.lock().containers.len())
            .finish_non_exhaustive()
    }
}

impl Store {
    pub(super) fn new(max_containers: usize) -> Self {
        Self {
            max_containers,
            state: Mutex::default(),
        }
    }

    /// The tokens to send: the range's, or all of the container's while the range is not known. A
    /// range without a token inherits those of the ranges that it came from.
    pub(super) fn value(
        &self,
        container: &str,
        range: Option<&RangeId>,
        ancestors: &[RangeId],
    ) -> Option<String> {
        let mut state = self.state.lock();
        state.uses += 1;
        let uses = state.uses;
        let container = state.containers.get_mut(container)?;
        container.used = uses;
        let mut value = String::new();
        // Writing to a string cannot fail.
        match range {
            Some(range) => {
                let own = container.of_range(range, ancestors);
                let own = own.map(|token| (range, token));
                for (id, token) in own.into_iter().chain(container.of_successors(range)) {
                    let comma = if value.is_empty() { "" } else { "," };
                    let _ = write!(value, "{comma}{id}:{token}");
                }
            }
            None => {
                for (id, token) in &container.ranges {
                    let comma = if value.is_empty() { "" } else { "," };
                    let _ = write!(value, "{comma}{id}:{token}");
                }
            }
        }
        (!value.is_empty() && value.len() <= MAX_VALUE).then_some(value)
    }

    /// Learns from an answer: its token, the range that it says it is from, its container's RID.
    /// `asked` is the range that the operation was taken to be for.
    pub(super) fn learn(
        &self,
        name: &str,
        rid: Option<&str>,
        asked: Option<&RangeId>,
        range: Option<&str>,
        value: &str,
    ) {
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
                container.successors.clear();
            }
            container.rid = Some(rid.into());
        }
        if let (Some(asked), Some(range)) = (asked, range.map(RangeId::new)) {
            container.note_successor(asked, range);
        }
        let mut learned: Vec<_> = segments(value).collect();
        if let (Some(range), [only]) = (range, learned.as_mut_slice()) {
            only.0 = range;
        }
        for (id, token) in learned {
            let id = RangeId::new(id);
            if let Some(known) = container.ranges.get_mut(&id) {
                *known = known.merge(&token);
            } else if container.ranges.len() < MAX_RANGES {
                container.ranges.insert(id, token);
            }
        }
    }

    /// The container is gone.
    pub(super) fn forget(&self, container: &str) {
        self.state.lock().containers.remove(container);
    }
}

impl Container {
    fn of_range(&self, range: &RangeId, ancestors: &[RangeId]) -> Option<SessionToken> {
        if let Some(own) = self.ranges.get(range) {
            return Some(own.clone());
        }
        let inherited = ancestors.iter().filter_map(|id| self.ranges.get(id));
        inherited.cloned().reduce(|a, b| a.merge(&b))
    }

    fn of_successors(
        &self,
        range: &RangeId,
    ) -> impl Iterator<Item = (&RangeId, SessionToken)> + use<'_> {
        let successors = self.successors.get(range).into_iter().flatten();
        successors.filter_map(|id| Some((id, self.ranges.get(id)?.clone())))
    }

    fn note_successor(&mut self, asked: &RangeId, range: RangeId) {
        let is_known = self.successors.contains_key(asked);
        if *asked != range && (is_known || self.successors.len() < MAX_RANGES) {
            let successors = self.successors.entry(asked.clone()).or_default();
            if successors.len() < MAX_SUCCESSORS {
                successors.insert(range);
            }
        }
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

    fn value(store: &Store, container: &str, range: Option<&str>) -> Option<String> {
        store.value(container, range.map(RangeId::new).as_ref(), &[])
    }

    #[test]
    fn a_range_without_a_token_inherits_those_of_the_ranges_it_came_from() {
        let store = Store::new(10);
        let ids = |ids: [u32; 2]| ids.map(RangeId::from);
        store.learn("a", None, None, None, "0:1#5#1=2,1:1#4#1=9");
        let merged = store.value("a", Some(&RangeId::from(2)), &ids([0, 1]));
        assert_eq!(merged.unwrap(), "2:1#5#1=9");
        let split = store.value("a", Some(&RangeId::from(3)), &ids([0, 7]));
        assert_eq!(split.unwrap(), "3:1#5#1=2");
        store.learn("a", None, None, Some("3"), "3:2#6#1=3");
        let own = store.value("a", Some(&RangeId::from(3)), &ids([0, 7]));
        assert_eq!(own.unwrap(), "3:2#6#1=3");
        assert_eq!(
            store.value("a", Some(&RangeId::from(4)), &ids([7, 8])),
            None
        );
    }

    #[test]
    fn a_range_that_others_answer_for_is_asked_for_with_their_tokens() {
        let store = Store::new(10);
        let parent = RangeId::from(0);
        store.learn("a", Some("rid"), Some(&parent), Some("0"), "0:1#5");
        assert_eq!(value(&store, "a", Some("0")).unwrap(), "0:1#5");
        store.learn("a", Some("rid"), Some(&parent), Some("3"), "3:1#6");
        assert_eq!(value(&store, "a", Some("0")).unwrap(), "0:1#5,3:1#6");
        assert_eq!(value(&store, "a", Some("3")).unwrap(), "3:1#6");
        for range in 100..1000 {
            let id = range.to_string();
            store.learn("a", Some("rid"), Some(&parent), Some(&id), "0:1#6");
        }
        let successors = &store.state.lock().containers["a"].successors;
        assert_eq!(successors[&parent].len(), MAX_SUCCESSORS);
    }

    #[test]
    fn tokens_merge_per_range_and_containers_stay_apart() {
        let store = Store::new(10);
        store.learn("a", None, None, None, "0:1#5#1=2");
        store.learn("a", None, None, Some("1"), "0:1#9");
        store.learn("a", None, None, None, "0:1#4#1=3");
        store.learn("b", None, None, None, "0:1#99");
        assert_eq!(value(&store, "a", None).unwrap(), "0:1#5#1=3,1:1#9");
        assert_eq!(value(&store, "a", Some("1")).unwrap(), "1:1#9");
        assert_eq!(value(&store, "a", Some("7")), None);
        assert_eq!(value(&store, "c", None), None);
    }

    #[test]
    fn a_container_that_was_made_anew_starts_anew() {
        let store = Store::new(10);
        store.learn("a", Some("rid1"), None, None, "0:1#5");
        store.learn("a", Some("rid2"), None, None, "0:1#1");
        assert_eq!(value(&store, "a", None).unwrap(), "0:1#1");
        store.forget("a");
        assert_eq!(value(&store, "a", None), None);
    }

    #[test]
    fn it_stays_bounded_and_forgets_what_was_used_longest_ago() {
        let store = Store::new(2);
        store.learn("a", None, None, None, "0:1");
        store.learn("b", None, None, None, "0:1");
        assert!(value(&store, "a", None).is_some());
        store.learn("c", None, None, None, "0:1");
        assert!(value(&store, "b", None).is_none());
        for range in 0..10_000 {
            store.learn("a", None, None, None, &format!("{range}:1"));
        }
        assert_eq!(store.state.lock().containers["a"].ranges.len(), MAX_RANGES);
        assert_eq!(value(&store, "a", None), None, "too long to send");
        assert!(value(&store, "a", Some("17")).is_some());
    }
}
