//! Operations on items.

use http::Method;

use super::path::Path;
use super::{PartitionKey, Payload, Query, RequestBuilder};
use crate::headers::{self, value};

fn on_item(
    method: Method,
    database: &str,
    container: &str,
    id: &str,
    key: &PartitionKey,
) -> RequestBuilder {
    RequestBuilder::new(method, Path::item(database, container, id)).partition_key(key)
}

fn on_items(method: Method, database: &str, container: &str) -> RequestBuilder {
    RequestBuilder::new(method, Path::container(database, container).feed("docs"))
}

/// Reads an item.
pub fn read_item(database: &str, container: &str, id: &str, key: &PartitionKey) -> RequestBuilder {
    on_item(Method::GET, database, container, id, key)
}

/// Reads an item's headers only.
pub fn head_item(database: &str, container: &str, id: &str, key: &PartitionKey) -> RequestBuilder {
    on_item(Method::HEAD, database, container, id, key)
}

/// Creates an item; if its id is taken, the answer is 409.
pub fn create_item(
    database: &str,
    container: &str,
    key: &PartitionKey,
    item: impl Into<Payload>,
) -> RequestBuilder {
    on_items(Method::POST, database, container)
        .partition_key(key)
        .body(value::JSON, item)
}

/// Creates an item, or replaces the one that has its id.
pub fn upsert_item(
    database: &str,
    container: &str,
    key: &PartitionKey,
    item: impl Into<Payload>,
) -> RequestBuilder {
    create_item(database, container, key, item).set(headers::IS_UPSERT, value::TRUE)
}

/// Replaces an item.
pub fn replace_item(
    database: &str,
    container: &str,
    id: &str,
    key: &PartitionKey,
    item: impl Into<Payload>,
) -> RequestBuilder {
    on_item(Method::PUT, database, container, id, key).body(value::JSON, item)
}

/// Changes parts of an item: `{"operations": […]}`, with an optional `condition`.
pub fn patch_item(
    database: &str,
    container: &str,
    id: &str,
    key: &PartitionKey,
    patch: impl Into<Payload>,
) -> RequestBuilder {
    on_item(Method::PATCH, database, container, id, key).body(value::JSON_PATCH, patch)
}

/// Deletes an item.
pub fn delete_item(
    database: &str,
    container: &str,
    id: &str,
    key: &PartitionKey,
) -> RequestBuilder {
    on_item(Method::DELETE, database, container, id, key)
}

/// Queries items: of one logical partition with
/// [`partition_key`](RequestBuilder::partition_key), of one physical partition with
/// [`partition_key_range_id`](RequestBuilder::partition_key_range_id), of all of them, as far as
/// the service alone can do it, with
/// [`cross_partition_query`](RequestBuilder::cross_partition_query).
pub fn query_items(database: &str, container: &str, query: impl Into<Query>) -> RequestBuilder {
    on_items(Method::POST, database, container)
        .set(headers::IS_QUERY, value::TRUE)
        .body(value::QUERY_JSON, query.into())
}

/// Asks how a query would be run over all partitions.
///
/// `features` lists, separated by commas, what the caller's own query engine can do (such as
/// `OrderBy,Distinct`): the plan asks for nothing else, and the service refuses a query that needs
/// more.
pub fn query_plan(
    database: &str,
    container: &str,
    query: impl Into<Query>,
    features: &str,
) -> RequestBuilder {
    query_items(database, container, query)
        .set(headers::IS_QUERY_PLAN_REQUEST, value::TRUE)
        .set(headers::QUERY_VERSION, value::QUERY_VERSION)
        .header(headers::SUPPORTED_QUERY_FEATURES, features)
}

/// Runs several operations, a JSON array, on one partition key: all of them or none.
pub fn batch(
    database: &str,
    container: &str,
    key: &PartitionKey,
    operations: impl Into<Payload>,
) -> RequestBuilder {
    create_item(database, container, key, operations)
        .set(headers::IS_BATCH_REQUEST, value::TRUE)
        .set(headers::BATCH_ATOMIC, value::TRUE)
        .set(headers::BATCH_CONTINUE_ON_ERROR, value::FALSE)
}

/// Reads a page of a container's items.
pub fn read_feed(database: &str, container: &str) -> RequestBuilder {
    on_items(Method::GET, database, container)
}

/// Reads a page of what changed in a container, from its beginning on.
///
/// To go on, or to begin at another point, use
/// [`if_none_match`](RequestBuilder::if_none_match) or
/// [`if_modified_since`](RequestBuilder::if_modified_since).
pub fn change_feed(database: &str, container: &str) -> RequestBuilder {
    read_feed(database, container).set(headers::A_IM, value::INCREMENTAL_FEED)
}

/// Deletes, in the background, everything that has one partition key.
pub fn delete_by_partition_key(
    database: &str,
    container: &str,
    key: &PartitionKey,
) -> RequestBuilder {
    let path = Path::container(database, container)
        .feed("operations")
        .feed("partitionkeydelete");
    RequestBuilder::new(Method::POST, path).partition_key(key)
}
