//! Operations on the account, databases, containers, partition key ranges and offers.

use http::Method;
use serde_json::json;

use super::path::{self, Path};
use super::{Payload, Query, RequestBuilder};
use crate::headers::{self, value};
use crate::operation::Resource;

pub(super) fn query(path: Path, query: Query) -> RequestBuilder {
    RequestBuilder::new(Method::POST, path)
        .set(headers::IS_QUERY, value::TRUE)
        .body(value::QUERY_JSON, query)
}

/// Reads the account: its regions and settings.
pub fn read_account() -> RequestBuilder {
    RequestBuilder::new(Method::GET, Path::root())
}

/// Reads a database.
pub fn read_database(id: &str) -> RequestBuilder {
    RequestBuilder::new(Method::GET, Path::database(id))
}

/// Reads a page of the account's databases.
pub fn list_databases() -> RequestBuilder {
    RequestBuilder::new(Method::GET, Path::root().feed("dbs"))
}

/// Queries the account's databases.
pub fn query_databases(text: impl Into<Query>) -> RequestBuilder {
    query(Path::root().feed("dbs"), text.into())
}

/// Creates a database, with [`throughput`](RequestBuilder::throughput) of its own if that is set.
pub fn create_database(id: &str) -> RequestBuilder {
    let mut builder = RequestBuilder::new(Method::POST, Path::root().feed("dbs"))
        .body(value::JSON, json!({ "id": id }));
    if let Err(error) = path::check_id(Resource::Database, id) {
        builder.fail(error);
    }
    builder
}

/// Deletes a database and all that is in it.
pub fn delete_database(id: &str) -> RequestBuilder {
    RequestBuilder::new(Method::DELETE, Path::database(id))
}

/// Reads a container: its partition key, indexes and policies.
pub fn read_container(database: &str, id: &str) -> RequestBuilder {
    RequestBuilder::new(Method::GET, Path::container(database, id))
}

/// Reads a page of a database's containers.
pub fn list_containers(database: &str) -> RequestBuilder {
    RequestBuilder::new(Method::GET, Path::database(database).feed("colls"))
}

/// Queries a database's containers.
pub fn query_containers(database: &str, text: impl Into<Query>) -> RequestBuilder {
    query(Path::database(database).feed("colls"), text.into())
}

/// Creates a container: `{"id": …, "partitionKey": …}`, with
/// [`throughput`](RequestBuilder::throughput) of its own if that is set.
pub fn create_container(database: &str, definition: impl Into<Payload>) -> RequestBuilder {
    RequestBuilder::new(Method::POST, Path::database(database).feed("colls"))
        .body(value::JSON, definition)
}

/// Replaces a container's definition.
pub fn replace_container(
    database: &str,
    id: &str,
    definition: impl Into<Payload>,
) -> RequestBuilder {
    RequestBuilder::new(Method::PUT, Path::container(database, id)).body(value::JSON, definition)
}

/// Deletes a container and all that is in it.
pub fn delete_container(database: &str, id: &str) -> RequestBuilder {
    RequestBuilder::new(Method::DELETE, Path::container(database, id))
}

/// Reads how a container is divided into physical partitions, or what changed in that since an
/// entity tag, given by [`if_none_match`](RequestBuilder::if_none_match).
///
/// The page size is left to the service. An answer of 304 ends the feed.
pub fn read_partition_key_ranges(database: &str, container: &str) -> RequestBuilder {
    RequestBuilder::new(
        Method::GET,
        Path::container(database, container).feed("pkranges"),
    )
    .set(headers::A_IM, value::INCREMENTAL_FEED)
    .set(headers::MAX_ITEM_COUNT, value::SERVICE_DECIDES)
}

/// Reads an offer: the throughput of a database or container. `rid` is the offer's resource id.
pub fn read_offer(rid: &str) -> RequestBuilder {
    RequestBuilder::new(Method::GET, offer(rid))
}

/// Reads a page of the account's offers.
pub fn list_offers() -> RequestBuilder {
    RequestBuilder::new(Method::GET, Path::root().feed("offers"))
}

/// Queries the account's offers, usually by `c.offerResourceId`.
pub fn query_offers(text: impl Into<Query>) -> RequestBuilder {
    query(Path::root().feed("offers"), text.into())
}

/// Changes a throughput. `rid` is the offer's resource id.
pub fn replace_offer(rid: &str, definition: impl Into<Payload>) -> RequestBuilder {
    RequestBuilder::new(Method::PUT, offer(rid)).body(value::JSON, definition)
}

fn offer(rid: &str) -> Path {
    Path::root().resource("offers", Resource::Offer, rid)
}
