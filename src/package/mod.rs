//! npm and PyPI: what is installed, and what really runs.

pub mod identity;
