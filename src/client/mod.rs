//! Everything that speaks to a server: the process, the bytes, the messages, the conversation.

pub mod process;
pub mod protocol;
pub mod session;
pub mod transport;
