//! The storage for the bytes of objects and uploads: a directory, or an object store of several
//! processes.

#[cfg(feature = "cluster")]
mod bucket;
#[cfg(feature = "cluster")]
mod depot;
mod directory;
#[cfg(all(test, feature = "cluster"))]
mod laws;
mod place;
#[cfg(feature = "cluster")]
mod s3;
#[cfg(feature = "cluster")]
mod shelf;

#[cfg(feature = "cluster")]
pub(crate) use self::bucket::InBucket;
pub(crate) use self::directory::Directory;
pub(crate) use self::place::{Contents, Kept, Pin, Upload};
