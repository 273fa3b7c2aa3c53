//! What holds for every choice, whatever led to it.

use cosmos_core::{FailureKind, Region};
use proptest::prelude::*;

use crate::case::{Case, Kind, NAMES, case};
use crate::region;

/// An answer that keeps the rules: none of them needs to know which step made it.
fn check(case: &Case) -> Result<(), TestCaseError> {
    let excluded: Vec<Region> = case.excluded.iter().map(|&r| region(NAMES[r])).collect();
    let another_is_left = !case.allowed().is_empty();
    match case.choose() {
        Ok(choice) => {
            if !case.kind.metadata() {
                prop_assert_ne!(
                    choice.region,
                    Region::GLOBAL,
                    "data went to the global endpoint"
                );
            }
            if excluded.contains(&choice.region) {
                prop_assert!(choice.sole && !another_is_left, "an exclusion was broken");
            }
            if choice.sole {
                prop_assert!(!another_is_left && !choice.trial && !choice.probe);
            }
            if case.kind == Kind::Sproc {
                prop_assert!(!choice.probe, "a stored procedure was made a probe");
            }
        }
        Err(kind) => {
            prop_assert_eq!(kind, FailureKind::Excluded);
            prop_assert!(!another_is_left, "refused although a candidate is left");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn exclusions_hold_and_data_stays_in_regions(case in case()) {
        check(&case)?;
    }
}
