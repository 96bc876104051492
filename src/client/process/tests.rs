//! Real processes, started and ended.
