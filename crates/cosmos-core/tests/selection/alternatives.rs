//! Whether another region could take over from the one that was chosen.

use cosmos_core::selection::Standing;
use cosmos_core::{FailureKind, Operation, Outcome, Status};

use crate::{Ask, READ, Stands, WRITE, topology};

const ALL: [&str; 3] = ["East US", "West US 3", "Japan East"];

fn ask(operation: Operation) -> Ask {
    Ask::new(&topology(&ALL, &ALL, true, &[]), operation)
}

#[test]
fn an_untried_available_candidate_is_an_alternative() {
    assert!(ask(READ).alternative_to("East US"));
    assert!(ask(READ).alternative_to("Japan East"), "any but the chosen");
    let excluded = ask(READ).exclude(&["West US 3", "Japan East"]);
    assert!(!excluded.alternative_to("East US"));
    let tried = ask(READ).failed("West US 3").failed("Japan East");
    assert!(!tried.alternative_to("East US"));
    let alone = Ask::new(&topology(&["East US"], &["East US"], true, &[]), READ);
    assert!(!alone.alternative_to("East US"));
}

#[test]
fn a_marked_candidate_is_none_and_one_that_is_due_for_a_trial_is() {
    let bad = Stands::writes(&["West US 3", "Japan East"], Standing::Bad);
    assert!(!ask(WRITE).marks(bad.clone()).alternative_to("East US"));
    assert!(
        ask(READ).marks(bad).alternative_to("East US"),
        "marked for writes only"
    );
    let due = Stands::writes(&["West US 3", "Japan East"], Standing::Due);
    assert!(ask(WRITE).marks(due).alternative_to("East US"));
}

#[test]
fn a_region_that_only_throttled_can_still_take_over() {
    let throttled = Outcome::Answered(Status::new(429, 0));
    let throttled = ask(READ).made("West US 3", throttled).failed("Japan East");
    assert!(throttled.alternative_to("East US"));
    let reset = Outcome::Failed(FailureKind::Reset);
    let reset = ask(READ).made("West US 3", reset).failed("Japan East");
    assert!(!reset.alternative_to("East US"));
}
