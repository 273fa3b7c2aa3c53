//! A healthy point read: the stack beside the bare leaf and the peers.

use tokio::runtime::Runtime;
use tower::Layer;
use tower_cosmos::{Account, RecommendedLayer};

use super::{Settings, goals, layers};
use crate::cost::{Cost, Subject, costs};
use crate::instant::InstantLeaf;
use crate::operation::{self, account, credential, one_key, read, reads};
use crate::{Report, Section, peers};

const TITLE: &str = "A point read over an instant leaf";
const NOTE: &str = "+: over the bare leaf";

/// The names of the rows that goals are about.
pub(super) const LEAF: &str = "bare leaf, request building included";
pub(super) const STACK: &str = "recommended stack";
pub(super) const UNSIGNED: &str = "recommended stack without signing";

/// The stack as it is recommended.
pub(super) fn recommended(account: &Account) -> RecommendedLayer {
    RecommendedLayer::new(account.clone(), credential()).timeout(goals::TIMEOUT)
}

pub(super) fn section(runtime: &Runtime, settings: &Settings, goals: &mut Report) -> Section {
    let account = account();
    let stack = recommended(&account).layer(InstantLeaf::new());
    let unsigned = layers::unsigned(&account);
    let cloned = stack.clone();
    let key = one_key();
    let mut subjects = vec![
        reads(LEAF, runtime, InstantLeaf::new()),
        reads(STACK, runtime, stack),
        reads(UNSIGNED, runtime, unsigned),
        Subject::new("recommended stack, a clone for each", move |operations| {
            operation::run(runtime, async {
                for _ in 0..operations {
                    read(&mut cloned.clone(), &key).await;
                }
            });
        }),
    ];
    subjects.extend(peers::subjects(runtime));
    let costs = costs(settings.rounds, settings.allocator, subjects);
    let leaf = named(&costs, LEAF);
    goals::healthy(goals, &costs);
    Section::of_costs(TITLE, NOTE, &costs, leaf)
}

/// The cost of this name.
///
/// # Panics
/// If there is none.
pub(super) fn named<'a>(costs: &'a [Cost], name: &str) -> &'a Cost {
    let cost = costs.iter().find(|cost| cost.name == name);
    cost.expect("measured a moment ago")
}
