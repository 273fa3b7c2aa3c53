//! What is read from an account document, and the lists and endpoints made of it.
#![allow(missing_docs, clippy::unwrap_used)]

mod changes;
mod document;
mod lists;

use cosmos_core::{Access, Endpoint, Region, Topology, TopologyError};

const GLOBAL: &str = "https://acct.documents.azure.com:443/";

fn region(name: &str) -> Region {
    Region::named(name).unwrap()
}

fn endpoint(url: &str) -> Endpoint {
    Endpoint::parse(url).unwrap()
}

fn read(document: &str, preferred: &[&str]) -> Result<Topology, TopologyError> {
    let preferred: Vec<Region> = preferred.iter().map(|name| region(name)).collect();
    Topology::parse(document.as_bytes(), &endpoint(GLOBAL), &preferred)
}

/// A document with these regions, each at `https://acct-{name}.documents.azure.com:443/`.
fn document(readable: &[&str], writable: &[&str], multi_write: bool) -> String {
    format!(
        r#"{{"id":"acct","_self":"","readableLocations":[{}],"writableLocations":[{}],
            "enableMultipleWriteLocations":{multi_write}}}"#,
        locations(readable),
        locations(writable)
    )
}

fn locations(names: &[&str]) -> String {
    let entries: Vec<String> = names.iter().map(|name| location(name)).collect();
    entries.join(",")
}

fn location(name: &str) -> String {
    let host = name.replace(' ', "").to_lowercase();
    format!(
        r#"{{"name":"{name}","databaseAccountEndpoint":"https://acct-{host}.documents.azure.com:443/"}}"#
    )
}

fn account(
    readable: &[&str],
    writable: &[&str],
    multi_write: bool,
    preferred: &[&str],
) -> Topology {
    read(&document(readable, writable, multi_write), preferred).unwrap()
}

fn reads(topology: &Topology) -> Vec<&'static str> {
    names(topology.order(Access::Read))
}

fn writes(topology: &Topology) -> Vec<&'static str> {
    names(topology.order(Access::Write))
}

fn names(regions: &[Region]) -> Vec<&'static str> {
    regions.iter().map(|region| region.name()).collect()
}
