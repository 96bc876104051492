//! Everything that is tested through the public surface, in one binary so that it is linked once.

mod identity;
