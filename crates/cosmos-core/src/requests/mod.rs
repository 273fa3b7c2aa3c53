//! Plain [`http::Request`]s for everything that the service does.
//!
//! Each function names one operation and returns a [`RequestBuilder`], whose setters add what is
//! optional and whose [`build`](RequestBuilder::build) gives the request. Its URI is a path only:
//! which region it goes to, its date and its signature are decided for every attempt, by layers.
//!
//! ```
//! use cosmos_core::requests::{self, Json, PartitionKey};
//! use serde_json::json;
//!
//! let key = PartitionKey::from("amsterdam");
//! let read = requests::read_item("shop", "carts", "a b", &key).session_token("0:1#5").build()?;
//! assert_eq!(read.uri(), "/dbs/shop/colls/carts/docs/a%20b");
//! assert_eq!(read.headers()["x-ms-documentdb-partitionkey"], r#"["amsterdam"]"#);
//!
//! let cart = json!({ "id": "a b", "city": "amsterdam" });
//! let replace = requests::replace_item("shop", "carts", "a b", &key, Json(&cart))
//!     .if_match("\"0000-1\"")
//!     .prefer_minimal()
//!     .build()?;
//! assert_eq!(replace.method(), "PUT");
//! # Ok::<(), requests::RequestError>(())
//! ```
//!
//! # Ids
//!
//! Ids are percent-encoded, everything but `A-Z a-z 0-9 - . _ ~`. An id that is empty, or that
//! holds one of `/ \ ? #`, is refused, because the service refuses it; so are `.` and `..`, which
//! a proxy may take for a way up the path, turning the deletion of an item into one of its
//! container.

mod body;
mod builder;
mod error;
mod items;
mod metadata;
mod partition_key;
mod partition_key_text;
mod path;
mod scripts;

pub use body::{Json, Payload, Query};
pub use builder::{ConsistencyLevel, RequestBuilder};
pub use error::RequestError;
pub use items::{
    batch, change_feed, create_item, delete_by_partition_key, delete_item, head_item, patch_item,
    query_items, query_plan, read_feed, read_item, replace_item, upsert_item,
};
pub use metadata::{
    create_container, create_database, delete_container, delete_database, list_containers,
    list_databases, list_offers, query_containers, query_databases, query_offers, read_account,
    read_container, read_database, read_offer, read_partition_key_ranges, replace_container,
    replace_offer,
};
pub use partition_key::{Number, PartitionKey, PartitionKeyError, PartitionKeyValue};
pub(crate) use partition_key_text::{Value, Values, read};
pub use scripts::{
    ScriptKind, create_script, delete_script, execute_stored_procedure, list_scripts,
    query_scripts, read_script, replace_script,
};
