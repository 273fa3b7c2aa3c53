//! What this program says to itself when it starts again as a child.

use clap::ValueEnum;

/// What the command line calls a value.
pub(crate) fn name(value: &impl ValueEnum) -> String {
    let value = value.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}
