//! Bodies of requests.

use std::fmt;

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

/// What a request carries: bytes that are JSON already, or anything that becomes JSON.
///
/// A value that cannot be written as JSON is told by
/// [`RequestBuilder::build`](super::RequestBuilder::build).
///
/// ```
/// use bytes::Bytes;
/// use cosmos_core::requests::{Json, Payload};
///
/// let written = Payload::from(Json(&["a"]));
/// let ready = Payload::from(Bytes::from_static(b"[\"a\"]"));
/// let value = Payload::from(serde_json::json!(["a"]));
/// # let _ = (written, ready, value);
/// ```
pub struct Payload(pub(super) Result<Bytes, serde_json::Error>);

/// Makes a [`Payload`] of anything that can be serialised, by value or by reference.
#[derive(Copy, Clone)]
pub struct Json<T>(pub T);

impl fmt::Debug for Payload {
    /// Without what it says: it is a document, or part of one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0.as_ref().map(Bytes::len);
        f.debug_struct("Payload").field("bytes", &bytes).finish()
    }
}

impl<T> fmt::Debug for Json<T> {
    /// Without the value, for the same reason.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Json(..)")
    }
}

impl<T: Serialize> From<Json<T>> for Payload {
    fn from(json: Json<T>) -> Self {
        Self(serde_json::to_vec(&json.0).map(Bytes::from))
    }
}

impl From<Value> for Payload {
    fn from(value: Value) -> Self {
        Json(value).into()
    }
}

impl From<Bytes> for Payload {
    fn from(bytes: Bytes) -> Self {
        Self(Ok(bytes))
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Ok(bytes.into()))
    }
}

/// A query and its parameters.
///
/// ```
/// use cosmos_core::requests::Query;
///
/// let query = Query::new("SELECT * FROM c WHERE c.price < @most").parameter("@most", 10);
/// ```
#[must_use]
pub struct Query {
    text: String,
    parameters: Vec<Parameter>,
    error: Option<serde_json::Error>,
}

#[derive(Serialize)]
struct Parameter {
    name: String,
    value: Value,
}

impl fmt::Debug for Query {
    /// With the names of its parameters alone; and a text may hold values, too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.parameters.iter().map(|parameter| &parameter.name);
        f.debug_struct("Query")
            .field("parameters", &names.collect::<Vec<_>>())
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl Query {
    /// A query without parameters.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            parameters: Vec::new(),
            error: None,
        }
    }

    /// Adds a parameter, whose name begins with `@` as in the query's text.
    pub fn parameter(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        match serde_json::to_value(value) {
            Ok(value) => self.parameters.push(Parameter {
                name: name.into(),
                value,
            }),
            Err(error) => self.error = self.error.or(Some(error)),
        }
        self
    }
}

impl From<&str> for Query {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Query {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<Query> for Payload {
    fn from(query: Query) -> Self {
        #[derive(Serialize)]
        struct Body<'a> {
            query: &'a str,
            parameters: &'a [Parameter],
        }
        match query.error {
            Some(error) => Self(Err(error)),
            None => Json(Body {
                query: &query.text,
                parameters: &query.parameters,
            })
            .into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn queries_carry_their_parameters_in_order() {
        let query = Query::new("Q").parameter("@a", 1).parameter("@b", ["x"]);
        let expected =
            r#"{"query":"Q","parameters":[{"name":"@a","value":1},{"name":"@b","value":["x"]}]}"#;
        assert_eq!(Payload::from(query).0.unwrap(), expected);
        let plain = Payload::from(Query::from("Q")).0.unwrap();
        assert_eq!(plain, r#"{"query":"Q","parameters":[]}"#);
    }

    #[test]
    fn what_is_not_json_is_kept_as_an_error() {
        let keyed_by_lists = BTreeMap::from([(vec![1], 1)]);
        assert!(Payload::from(Json(&keyed_by_lists)).0.is_err());
        let query = Query::new("Q")
            .parameter("@a", &keyed_by_lists)
            .parameter("@b", 1);
        assert!(Payload::from(query).0.is_err());
    }
}
