//! AES data to ciphertexts of their bytes, and from there to integers.

use everlevel::files::{Bytes, ReadOptions};
use everlevel::lab::ServerEvaluator;
use everlevel::{
    AesKeyId, AesMethod, Ciphertext as Inner, EncryptedAesKey, Error, KeyId, KeyPlan, ModeKind,
    aes_keys, mode_of,
};
use everlevel_aes::integers::{ByteOrder, IntegersFromBytes};
use everlevel_aes::{AesError, Batch, Direction, Mode, Progress as Round};
use everlevel_circuit::sums::PowerSum;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zeroize::Zeroizing;

use crate::ciphertext::Ciphertext;
use crate::errors::{Result, refusal};
use crate::keys::{Keys, Plan, PublicKey, SecretKey, same};
use crate::params::Params;
use crate::runtime::{Progress, detached, rng};
use crate::values::{octets, shown};

/// The server keys for transciphering; with those for integers from bytes, and their sums.
#[pyfunction]
pub fn aes_plan(py: Python<'_>, params: &Params, decryption: bool, integers: bool) -> Result<Plan> {
    detached(py, || {
        let params = &params.0;
        let both = [Direction::Encrypt, Direction::Decrypt];
        let plan = aes_keys(params, if decryption { &both } else { &both[..1] })?;
        if !integers {
            return Ok(Plan(plan));
        }
        let shape = params.slot_shape();
        let mut elements = IntegersFromBytes::<ServerEvaluator>::automorphisms(shape);
        for dimension in 0..shape.dimensions().len() {
            elements.extend(PowerSum::along(shape, dimension)?.galois_elements());
        }
        elements.retain(|g| !g.is_identity());
        Ok(Plan(plan.merge(&KeyPlan::automorphisms_up_to(params, elements, params.chain().top()))))
    })
}

/// The id of an AES key.
#[pyfunction]
pub fn aes_key_id(key: &[u8]) -> Result<String> {
    Ok(format!("{:#}", AesKeyId::of(key)?))
}

fn id_named(digits: &str) -> Result<AesKeyId> {
    AesKeyId::from_hex(digits).ok_or_else(|| {
        let problem = "the id of an AES key: expected 32 hexadecimal digits, see \
                       everlevel.aes.key_id";
        refusal("AesError", "python.aes-key-id", problem)
    })
}

/// The round keys of an AES key under a public key, or a secret one.
#[pyfunction]
#[pyo3(signature = (key, public = None, secret = None))]
pub fn encrypt_aes_key(
    py: Python<'_>,
    key: &[u8],
    public: Option<&PublicKey>,
    secret: Option<&SecretKey>,
) -> Result<Vec<Ciphertext>> {
    let (params, encrypted) = match (public, secret) {
        (Some(public), None) => {
            let encrypted =
                detached(py, || Ok(EncryptedAesKey::encrypt(key, &public.0, &mut rng()?)?))?;
            (public.0.params(), encrypted)
        }
        (None, Some(secret)) => {
            let encrypted = detached(py, || {
                Ok(EncryptedAesKey::encrypt_secretly(key, &secret.0, &mut rng()?)?)
            })?;
            (secret.0.params(), encrypted)
        }
        _ => {
            return Err(refusal(
                "AesError",
                "python.one-key",
                "expected a public key or a secret one",
            ));
        }
    };
    Ok(encrypted.round_keys().iter().map(|x| Ciphertext::new(params, x.clone())).collect())
}

fn method_named(name: &str) -> Result<AesMethod> {
    let found =
        [AesMethod::Packed, AesMethod::ByteSliced].into_iter().find(|method| method.name() == name);
    found.ok_or_else(|| {
        refusal(
            "AesError",
            "python.method",
            &format!("method {name:?}: expected \"packed\" or \"byte-sliced\""),
        )
    })
}

/// The faster method for that many bytes.
#[pyfunction]
pub fn aes_method(params: &Params, bytes: u64) -> Result<&'static str> {
    Ok(AesMethod::for_bytes(params.0.slot_shape(), bytes)?.name())
}

/// Data under AES, with what a server has to know of them.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct AesUpload {
    inner: everlevel::AesUpload,
    params: everlevel::Params,
}

/// Parameters and owner of the key that an upload is for.
fn addressed(
    public: Option<&PublicKey>,
    secret: Option<&SecretKey>,
) -> Result<(everlevel::Params, Option<KeyId>)> {
    match (public, secret) {
        (Some(public), None) => Ok((public.0.params().clone(), public.0.owner())),
        (None, Some(secret)) => Ok((secret.0.params().clone(), Some(secret.0.id()))),
        _ => {
            let problem = "expected a public key or a secret one";
            Err(refusal("AesError", "python.one-key", problem))
        }
    }
}

#[pymethods]
impl AesUpload {
    /// Encrypts data in counter mode, from a counter block that is drawn.
    #[staticmethod]
    #[pyo3(signature = (key, data, public = None, secret = None))]
    fn encrypt(
        py: Python<'_>,
        key: &[u8],
        data: PyReadonlyArray1<'_, u8>,
        public: Option<&PublicKey>,
        secret: Option<&SecretKey>,
    ) -> Result<Self> {
        let (data, (params, owner)) = (octets(&data)?, addressed(public, secret)?);
        let inner =
            detached(py, || Ok(everlevel::AesUpload::encrypt(key, data, owner, &mut rng()?)?))?;
        Ok(AesUpload { inner, params })
    }

    /// Labels data that are encrypted already.
    #[staticmethod]
    #[pyo3(signature = (aes_key_id, data, mode, iv = None, public = None, secret = None))]
    fn of_data(
        aes_key_id: &str,
        data: PyReadonlyArray1<'_, u8>,
        mode: &str,
        iv: Option<&[u8]>,
        public: Option<&PublicKey>,
        secret: Option<&SecretKey>,
    ) -> Result<Self> {
        let (data, (params, owner)) = (octets(&data)?.to_vec(), addressed(public, secret)?);
        let (kind, _) = mode_named(mode, iv)?;
        let (id, iv) = (id_named(aes_key_id)?, iv.unwrap_or_default());
        Ok(AesUpload { inner: everlevel::AesUpload::of_data(kind, iv, id, owner, data)?, params })
    }

    #[staticmethod]
    fn from_bytes(
        params: &Params,
        data: PyReadonlyArray1<'_, u8>,
        allow_unknown_owner: bool,
    ) -> Result<Self> {
        let data = octets(&data)?;
        let options = ReadOptions::default()
            .limited_to(data.len() as u64)
            .allowing_unknown_owner(allow_unknown_owner);
        let (inner, _) = everlevel::AesUpload::from_bytes_with(&params.0, data, &options)?;
        Ok(AesUpload { inner, params: params.0.clone() })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.inner.to_bytes(&self.params)?))
    }

    #[getter]
    fn mode(&self) -> &'static str {
        self.inner.mode().name()
    }

    #[getter]
    fn iv<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.inner.iv())
    }

    #[getter]
    fn aes_key_id(&self) -> String {
        format!("{:#}", self.inner.aes_key_id())
    }

    #[getter]
    fn key_id(&self) -> Option<String> {
        shown(self.inner.owner())
    }

    fn __len__(&self) -> usize {
        self.inner.data().len()
    }
}

/// A server that takes AES data to ciphertexts by one method.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct AesServer {
    inner: everlevel::AesServer,
    params: everlevel::Params,
}

#[pymethods]
impl AesServer {
    #[new]
    fn new(py: Python<'_>, keys: &Keys, method: &str) -> Result<Self> {
        let method = method_named(method)?;
        let params = keys.0.params().clone();
        let inner = detached(py, || Ok(everlevel::AesServer::new(keys.0.clone(), method)?))?;
        Ok(AesServer { inner, params })
    }

    /// How many bytes a state holds, and in how many ciphertexts.
    #[getter]
    fn capacity(&self) -> (usize, usize) {
        (self.inner.layout().capacity(), self.inner.layout().width())
    }

    /// The states of an upload, each some ciphertexts. The progress is told of rounds.
    #[pyo3(signature = (key, aes_key_id, upload, progress = None))]
    fn transcipher(
        &self,
        py: Python<'_>,
        key: Vec<Bound<'_, Ciphertext>>,
        aes_key_id: Option<&str>,
        upload: &AesUpload,
        progress: Option<Py<PyAny>>,
    ) -> Result<Vec<Vec<Ciphertext>>> {
        same(&self.params, &upload.params)?;
        let key = encrypted_key(&key)?.identified(aes_key_id.map(id_named).transpose()?);
        let upload = &upload.inner;
        self.states(py, &key, upload.data().len(), progress, |told, each| {
            self.inner.transcipher(&key, upload, told, each)
        })
    }

    /// The same of data that nothing is known of: nothing is checked.
    #[pyo3(signature = (key, data, mode, iv = None, progress = None))]
    fn transcipher_unchecked(
        &self,
        py: Python<'_>,
        key: Vec<Bound<'_, Ciphertext>>,
        data: PyReadonlyArray1<'_, u8>,
        mode: &str,
        iv: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> Result<Vec<Vec<Ciphertext>>> {
        let data = octets(&data)?;
        let (_, mode) = mode_named(mode, iv)?;
        mode.check_length(data.len() as u64)?;
        let key = encrypted_key(&key)?;
        self.states(py, &key, data.len(), progress, |told, each| {
            let pieces = data.chunks(self.inner.layout().capacity());
            self.inner.transcipher_unchecked(&key, mode, pieces, told, each)
        })
    }

    /// Integers modulo 2^exponent from that many bytes each, of a state by bytes: 16 / width
    /// ciphertexts, integer j of block i in slot i of the j-th.
    fn integers(
        &self,
        py: Python<'_>,
        state: Vec<Bound<'_, Ciphertext>>,
        width: usize,
        exponent: u32,
        big: bool,
    ) -> Result<Vec<Ciphertext>> {
        if width == 0 || !state.len().is_multiple_of(width) {
            let problem = format!(
                "{} ciphertexts and integers of {width} bytes: expected a divisor",
                state.len()
            );
            return Err(refusal("ShapeError", "python.width", &problem));
        }
        let bytes: Vec<_> = state.iter().map(|x| x.get().value.get()).collect();
        let found = detached(py, || {
            let scheme = self.inner.evaluator();
            let level = bytes.iter().map(|x| x.level()).max().unwrap_or(self.params.chain().top());
            let order = if big { ByteOrder::Big } else { ByteOrder::Little };
            let integers = IntegersFromBytes::new(scheme, width, exponent, order, level)?;
            let one = |group: &[std::sync::Arc<Inner>]| {
                Ok(integers.evaluate(scheme, &group.iter().map(|x| &**x).collect::<Vec<_>>())?)
            };
            bytes.chunks(width).map(one).collect::<Result<Vec<Inner>>>()
        })?;
        Ok(found.into_iter().map(|x| Ciphertext::new(&self.params, x)).collect())
    }
}

/// What takes the batches of a transciphering.
type Each<'a> = dyn FnMut(Batch<ServerEvaluator>) -> std::result::Result<(), AesError> + 'a;

impl AesServer {
    /// Runs a transciphering, and keeps its states.
    fn states<R>(
        &self,
        py: Python<'_>,
        key: &EncryptedAesKey,
        bytes: usize,
        progress: Option<Py<PyAny>>,
        run: R,
    ) -> Result<Vec<Vec<Ciphertext>>>
    where
        R: Send + FnOnce(&mut dyn FnMut(Round), &mut Each<'_>) -> std::result::Result<(), Error>,
    {
        let states = detached(py, || {
            let mut progress = Progress::new(progress);
            let total = bytes.div_ceil(self.inner.layout().capacity()) * (key.size().rounds() + 1);
            let (mut done, mut states) = (0, Vec::new());
            let mut told = |_| {
                done += 1;
                progress.note(done, total);
            };
            run(&mut told, &mut |batch| {
                states.push(batch.state);
                Ok(())
            })?;
            progress.finish()?;
            Ok(states)
        })?;
        let own = |state: Vec<Inner>| {
            state.into_iter().map(|x| Ciphertext::new(&self.params, x)).collect()
        };
        Ok(states.into_iter().map(own).collect())
    }
}

fn encrypted_key(rounds: &[Bound<'_, Ciphertext>]) -> Result<EncryptedAesKey> {
    let rounds = rounds.iter().map(|x| Inner::clone(&x.get().value.get())).collect();
    Ok(EncryptedAesKey::from_round_keys(rounds)?)
}

fn mode_named(name: &str, iv: Option<&[u8]>) -> Result<(ModeKind, Mode)> {
    match (ModeKind::named(name), iv) {
        (Some(kind), Some(iv)) if kind != ModeKind::Ecb => Ok((kind, mode_of(kind, iv)?)),
        (Some(ModeKind::Ecb), None) => Ok((ModeKind::Ecb, mode_of(ModeKind::Ecb, &[])?)),
        _ => {
            let problem = format!(
                "mode {name:?}: expected \"ctr\", \"gcm\" or \"cbc\" with iv, or \"ecb\" without"
            );
            Err(refusal("AesError", "python.mode", &problem))
        }
    }
}

/// The bytes of states.
#[pyfunction]
pub fn decrypt_bytes<'py>(
    py: Python<'py>,
    secret: &SecretKey,
    states: Vec<Vec<Bound<'py, Ciphertext>>>,
    method: &str,
    length: usize,
) -> Result<Bound<'py, PyBytes>> {
    let params = secret.0.params();
    let layout = method_named(method)?.layout(params.slot_shape())?;
    if length.div_ceil(layout.capacity()) != states.len()
        || states.iter().any(|state| state.len() != layout.width())
    {
        return Err(refusal(
            "FormatError",
            "python.states",
            "the number of ciphertexts does not fit the number of bytes",
        ));
    }
    states.iter().flatten().try_for_each(|x| same(params, &x.get().params))?;
    let states: Vec<Vec<_>> =
        states.iter().map(|state| state.iter().map(|x| x.get().value.get()).collect()).collect();
    let data = detached(py, || {
        let mut data = Zeroizing::new(Vec::with_capacity(length));
        for state in &states {
            let decrypted =
                state.iter().map(|x| Ok(secret.0.decrypt(x)?.decode_elements(params)?));
            let elements = Zeroizing::new(decrypted.collect::<Result<Vec<_>>>()?);
            let left = (length - data.len()).min(layout.capacity());
            data.extend_from_slice(&Zeroizing::new(layout.bytes(&elements, left)?));
        }
        Ok(data)
    })?;
    Ok(PyBytes::new(py, &data))
}
