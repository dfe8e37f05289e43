//! The instruction sets for transforms and kernels.

use crate::error::ArithError;

/// An implementation of all transforms and kernels. Every backend returns the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Backend {
    /// Integer code for any processor: the reference for the others.
    Portable,
    /// Vectors of four words; needs AVX2 and FMA.
    Avx2,
    /// Vectors of eight words; needs AVX-512 F, DQ, VL, BW and IFMA.
    Avx512,
}

/// The choice of [`Backend::detect`] and its reason; see [`Backend::selection`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The backend that was chosen.
    pub backend: Backend,
    /// The value of `EVERLEVEL_BACKEND`, if it was set.
    pub requested: Option<String>,
    /// Whether the variable was unset or followed. False if it named no backend, or one that this
    /// processor lacks, so that the best available backend was chosen instead.
    pub honored: bool,
}

/// The environment variable that overrides the choice.
const VARIABLE: &str = "EVERLEVEL_BACKEND";

impl Backend {
    /// All backends, slowest first.
    pub const ALL: [Backend; 3] = [Backend::Portable, Backend::Avx2, Backend::Avx512];

    /// The best backend of this processor, or the one that the environment variable
    /// `EVERLEVEL_BACKEND` (`portable`, `avx2` or `avx512`) names. Reads the variable at each call.
    pub fn detect() -> Backend {
        Self::selection().backend
    }

    /// The result of [`Backend::detect`], together with the request.
    pub fn selection() -> Selection {
        Self::select(std::env::var_os(VARIABLE).map(|v| v.to_string_lossy().into_owned()))
    }

    fn select(requested: Option<String>) -> Selection {
        let best = Self::available().into_iter().max().unwrap_or(Backend::Portable);
        let wanted = requested.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let named = wanted
            .and_then(|name| Self::ALL.into_iter().find(|b| b.name().eq_ignore_ascii_case(name)))
            .filter(|b| b.is_available());
        Selection {
            backend: named.unwrap_or(best),
            honored: wanted.is_none() || named.is_some(),
            requested,
        }
    }

    /// Whether this processor can run the backend.
    pub fn is_available(self) -> bool {
        match self {
            Backend::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512ifma")
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// Refuses a backend that this processor lacks.
    pub(crate) fn check(self) -> Result<(), ArithError> {
        self.is_available().then_some(()).ok_or(ArithError::MissingBackend { backend: self.name() })
    }

    /// The backends this processor can run, slowest first; never empty.
    pub fn available() -> Vec<Backend> {
        Self::ALL.into_iter().filter(|b| b.is_available()).collect()
    }

    /// The name that `EVERLEVEL_BACKEND` understands.
    pub const fn name(self) -> &'static str {
        match self {
            Backend::Portable => "portable",
            Backend::Avx2 => "avx2",
            Backend::Avx512 => "avx512",
        }
    }

    /// The relevant processor features, separated by spaces, for reports; empty if none is known.
    pub fn cpu_flags() -> String {
        #[cfg(target_arch = "x86_64")]
        {
            let flags = [
                ("avx2", is_x86_feature_detected!("avx2")),
                ("fma", is_x86_feature_detected!("fma")),
                ("avx512f", is_x86_feature_detected!("avx512f")),
                ("avx512dq", is_x86_feature_detected!("avx512dq")),
                ("avx512vl", is_x86_feature_detected!("avx512vl")),
                ("avx512bw", is_x86_feature_detected!("avx512bw")),
                ("avx512ifma", is_x86_feature_detected!("avx512ifma")),
            ];
            let present: Vec<&str> = flags.iter().filter(|f| f.1).map(|f| f.0).collect();
            present.join(" ")
        }
        #[cfg(not(target_arch = "x86_64"))]
        String::new()
    }
}

impl std::fmt::Display for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_obeyed_or_reported() {
        let best = *Backend::available().last().unwrap();
        let unset = Backend::select(None);
        assert_eq!((unset.backend, unset.honored), (best, true));
        let portable = Backend::select(Some(" Portable ".into()));
        assert_eq!((portable.backend, portable.honored), (Backend::Portable, true));
        let unknown = Backend::select(Some("sse9".into()));
        assert_eq!((unknown.backend, unknown.honored), (best, false));
        assert_eq!(unknown.requested.as_deref(), Some("sse9"));
    }

    #[test]
    fn the_detected_backend_is_available() {
        assert!(Backend::detect().is_available());
        assert_eq!(Backend::available()[0], Backend::Portable);
    }
}
