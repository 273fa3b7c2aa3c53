//! 404/1002: where the retries go, and how many there are.

use cosmos_core::policy::session::{SessionPlan, plan};
use cosmos_core::{Endpoint, Operation, Region, RegionSet, Topology};

use crate::{CREATE, READ, READS, SPROC, WRITES};

fn region(name: &str) -> Region {
    Region::named(name).unwrap()
}

fn topology(multi_write: bool) -> Topology {
    let entry =
        |name: &str| format!(r#"{{"name":"{name}","databaseAccountEndpoint":"https://{name}"}}"#);
    let all = ["hub", "second", "third"].map(entry).join(",");
    let writable = if multi_write {
        all.clone()
    } else {
        entry("hub")
    };
    let document = format!(
        r#"{{"readableLocations":[{all}],"writableLocations":[{writable}],
            "enableMultipleWriteLocations":{multi_write}}}"#
    );
    let global = Endpoint::parse("https://acct.test").unwrap();
    Topology::parse(document.as_bytes(), &global, &[region("second")]).unwrap()
}

fn planned(multi_write: bool, operation: Operation, excluded: &[&str]) -> SessionPlan {
    let excluded: RegionSet = excluded.iter().map(|name| region(name)).collect();
    plan(&topology(multi_write), operation, excluded)
}

#[test]
fn a_single_write_account_is_asked_twice_at_the_hub() {
    for operation in READS.into_iter().chain(WRITES).chain([SPROC]) {
        let plan = planned(false, operation, &["second"]);
        assert_eq!((plan.retries, plan.hub), (2, Some(region("hub"))));
    }
}

#[test]
fn an_excluded_hub_is_not_pinned() {
    let plan = planned(false, READ, &["hub"]);
    assert_eq!((plan.retries, plan.hub), (2, None));
}

#[test]
fn a_multi_write_account_is_asked_as_often_as_it_has_candidates() {
    for (excluded, retries) in [
        (&[][..], 3),
        (&["third"], 2),
        (&["hub", "third"], 1),
        (&["hub", "second", "third"], 0),
        (&["elsewhere"], 3),
    ] {
        for operation in [READ, CREATE, SPROC] {
            let plan = planned(true, operation, excluded);
            assert_eq!((plan.retries, plan.hub), (retries, None), "{excluded:?}");
        }
    }
}
