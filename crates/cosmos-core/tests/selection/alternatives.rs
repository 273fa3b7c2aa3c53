//! Whether another region could take over from the one that was chosen.

use cosmos_core::selection::Standing;
use cosmos_core::{FailureKind, Operation, Outcome, Status};

use crate::{Ask, READ, Stands, WRITE, topology};

const ALL: [&str; 3] = ["eastus", "westus3", "japaneast"];

fn ask(operation: Operation) -> Ask {
    Ask::new(&topology(&ALL, &ALL, true, &[]), operation)
}

#[test]
fn an_untried_available_candidate_is_an_alternative() {
    assert!(ask(READ).alternative_to("eastus"));
    assert!(ask(READ).alternative_to("japaneast"), "any but the chosen");
    let excluded = ask(READ).exclude(&["westus3", "japaneast"]);
    assert!(!excluded.alternative_to("eastus"));
    let tried = ask(READ).failed("westus3").failed("japaneast");
    assert!(!tried.alternative_to("eastus"));
    let alone = Ask::new(&topology(&["eastus"], &["eastus"], true, &[]), READ);
    assert!(!alone.alternative_to("eastus"));
}

#[test]
fn a_marked_candidate_is_none_and_one_that_is_due_for_a_trial_is() {
    let bad = Stands::writes(&["westus3", "japaneast"], Standing::Bad);
    assert!(!ask(WRITE).marks(bad.clone()).alternative_to("eastus"));
    assert!(
        ask(READ).marks(bad).alternative_to("eastus"),
        "marked for writes only"
    );
    let due = Stands::writes(&["westus3", "japaneast"], Standing::Due);
    assert!(ask(WRITE).marks(due).alternative_to("eastus"));
}

#[test]
fn a_region_that_only_throttled_can_still_take_over() {
    let throttled = Outcome::Answered(Status::new(429, 0));
    let throttled = ask(READ).made("westus3", throttled).failed("japaneast");
    assert!(throttled.alternative_to("eastus"));
    let reset = Outcome::Failed(FailureKind::Reset);
    let reset = ask(READ).made("westus3", reset).failed("japaneast");
    assert!(!reset.alternative_to("eastus"));
}
