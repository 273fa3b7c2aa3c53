//! Values as the command line names them: said to the user, and to this program's own children.

use clap::ValueEnum;

/// What the command line calls a value.
pub(crate) fn name(value: &impl ValueEnum) -> String {
    let value = value.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}
