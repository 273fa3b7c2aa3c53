//! A server that names more regions than there are. In a process of its own: names are for ever.
#![allow(missing_docs, clippy::unwrap_used)]

use cosmos_core::region::MAX_REGIONS;
use cosmos_core::{Access, Endpoint, OperationOptions, Region, RegionError, Topology};

fn list(names: impl Iterator<Item = String>) -> String {
    let entries: Vec<String> = names
        .map(|name| format!(r#"{{"name":"{name}","databaseAccountEndpoint":"https://{name}/"}}"#))
        .collect();
    format!(r#"{{"readableLocations":[{}]}}"#, entries.join(","))
}

#[test]
fn regions_that_do_not_fit_are_skipped_and_exclusions_that_do_not_fit_are_refused() {
    let early = Region::named("made-up-1").unwrap();
    let global = Endpoint::parse("https://acct.documents.azure.com").unwrap();
    let names = (0..MAX_REGIONS * 2).map(|number| format!("madeup{number}"));
    let topology = Topology::parse(list(names).as_bytes(), &global, &[]).unwrap();
    let order = topology.order(Access::Read);
    assert!(order.len() < MAX_REGIONS);
    assert_eq!(order[0].name(), "madeup0");
    assert_eq!(order[1], early);

    assert_eq!(Region::named("one more"), Err(RegionError::Full));
    assert_eq!(
        OperationOptions::new()
            .exclude_regions(["East US", "one more"])
            .err(),
        Some(RegionError::Full)
    );

    // What was known before is still read.
    let names = ["onemore", "madeup1", "eastus"].map(str::to_owned);
    let topology = Topology::parse(list(names.into_iter()).as_bytes(), &global, &[]).unwrap();
    assert_eq!(
        topology.order(Access::Read),
        [early, Region::named("East US").unwrap()]
    );
    let names = ["onemore".to_owned()];
    assert!(Topology::parse(list(names.into_iter()).as_bytes(), &global, &[]).is_err());
}
