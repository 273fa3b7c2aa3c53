//! Operations on stored procedures, triggers and user-defined functions.

use http::Method;

use super::path::Path;
use super::{PartitionKey, Payload, Query, RequestBuilder, metadata};
use crate::headers::value;
use crate::operation::Resource;

/// The kinds of scripts that a container holds.
#[non_exhaustive]
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum ScriptKind {
    /// Runs when it is called; see [`execute_stored_procedure`].
    StoredProcedure,
    /// Runs before or after a write.
    Trigger,
    /// Runs within a query.
    UserDefinedFunction,
}

impl ScriptKind {
    const fn keyword(self) -> &'static str {
        match self {
            Self::StoredProcedure => "sprocs",
            Self::Trigger => "triggers",
            Self::UserDefinedFunction => "udfs",
        }
    }

    const fn resource(self) -> Resource {
        match self {
            Self::StoredProcedure => Resource::StoredProcedure,
            Self::Trigger => Resource::Trigger,
            Self::UserDefinedFunction => Resource::UserDefinedFunction,
        }
    }

    fn feed(self, database: &str, container: &str) -> Path {
        Path::container(database, container).feed(self.keyword())
    }

    fn one(self, database: &str, container: &str, id: &str) -> Path {
        Path::container(database, container).resource(self.keyword(), self.resource(), id)
    }
}

/// Runs a stored procedure on one partition key, with a JSON array of arguments.
///
/// It is sent again only when it certainly did not run.
pub fn execute_stored_procedure(
    database: &str,
    container: &str,
    id: &str,
    key: &PartitionKey,
    arguments: impl Into<Payload>,
) -> RequestBuilder {
    RequestBuilder::new(
        Method::POST,
        ScriptKind::StoredProcedure.one(database, container, id),
    )
    .partition_key(key)
    .body(value::JSON, arguments)
}

/// Reads a page of a container's scripts of one kind.
pub fn list_scripts(kind: ScriptKind, database: &str, container: &str) -> RequestBuilder {
    RequestBuilder::new(Method::GET, kind.feed(database, container))
}

/// Queries a container's scripts of one kind.
pub fn query_scripts(
    kind: ScriptKind,
    database: &str,
    container: &str,
    text: impl Into<Query>,
) -> RequestBuilder {
    metadata::query(kind.feed(database, container), text.into())
}

/// Creates a script: `{"id": …, "body": …}`, and for triggers `triggerType` and
/// `triggerOperation`.
pub fn create_script(
    kind: ScriptKind,
    database: &str,
    container: &str,
    definition: impl Into<Payload>,
) -> RequestBuilder {
    RequestBuilder::new(Method::POST, kind.feed(database, container)).body(value::JSON, definition)
}

/// Reads a script.
pub fn read_script(kind: ScriptKind, database: &str, container: &str, id: &str) -> RequestBuilder {
    RequestBuilder::new(Method::GET, kind.one(database, container, id))
}

/// Replaces a script.
pub fn replace_script(
    kind: ScriptKind,
    database: &str,
    container: &str,
    id: &str,
    definition: impl Into<Payload>,
) -> RequestBuilder {
    RequestBuilder::new(Method::PUT, kind.one(database, container, id))
        .body(value::JSON, definition)
}

/// Deletes a script.
pub fn delete_script(
    kind: ScriptKind,
    database: &str,
    container: &str,
    id: &str,
) -> RequestBuilder {
    RequestBuilder::new(Method::DELETE, kind.one(database, container, id))
}
