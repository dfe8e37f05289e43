//! Digits on images: the workload `ml-inference`.
//!
//! The model is 784 pixels, cropped by the client, to 128 linear forms, their squares, and 10 forms
//! of these, all in integers. Pixel j of 8192 images is one ciphertext, in whose slots the images
//! are; so a layer is a product of a matrix of public constants with a column of ciphertexts, and
//! the squares stay as they are, without relinearization and so without keys. The client decrypts
//! the ten results, takes the largest, and has what the model says of integers in the clear.
//!
//! No result can wrap: `server_preprocess_model` refuses a model whose results could exceed half of
//! the plaintext modulus on some image, or whose noise could exceed the modulus.

mod client;
mod model;
mod protocol;
mod server;

pub use client::{decrypt, encrypt, generate_key, postprocess, preprocess};
pub use model::Model;
pub use protocol::{HIDDEN, INPUTS, INSTANCES, LARGEST_LEVEL, spec};
pub use server::{compute, preprocess_model};
