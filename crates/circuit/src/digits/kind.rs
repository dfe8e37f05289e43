//! The kinds of digit removal: the one table that names, parser, error text and documentation come
//! from.

/// Makes [`DigitKind`] of lines `Kind: name, least and largest extra;`.
macro_rules! digit_kinds {
    ($($(#[doc = $doc:literal])* $kind:ident: $name:literal, $least:literal, $most:literal;)*) => {
        /// The ways to remove low digits, each with its name. The closed forms, as a tree or by
        /// powers, and `local` profit from a small bound B on the low part; the others take all
        /// its values.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum DigitKind {
            $(
                #[doc = concat!("`", $name, "`.")]
                $(#[doc = $doc])*
                $kind,
            )*
        }

        impl DigitKind {
            /// All kinds.
            pub const ALL: &[DigitKind] = &[$(DigitKind::$kind),*];

            /// The name, and the least and the largest value of
            /// [`DigitMethod::extra`](super::DigitMethod::extra).
            const fn entry(self) -> (&'static str, u8, u8) {
                match self {
                    $(DigitKind::$kind => ($name, $least, $most),)*
                }
            }
        }
    };
}

digit_kinds! {
    /// Closed form, u Π (u^2 - l^2) as a tree of products. No large constants at the full modulus:
    /// if g factors are expanded together, constants are below about B^(2g).
    ProductTree: "product_tree", 1, 255;
    /// Closed form by baby and giant powers of u^2: fewest products, but constants of log2(p^e)
    /// bits.
    PatersonStockmeyer: "paterson_stockmeyer", 0, 255;
    /// Interpolation on the grid of all values: everything modulo p, but (2B + 1)^2 values instead
    /// of 2B + 1. For bootstrapping only, as it needs inputs of another kind, l + Δ h modulo p.
    Global: "global", 0, 255;
    /// A triangle of lifting polynomials of degree p (Halevi–Shoup 2015).
    HaleviShoup: "halevi_shoup", 0, 255;
    /// Lowest-digit-retain polynomials of degree (e - 1)(p - 1) + 1 and lifting polynomials
    /// (Chen–Han 2018).
    ChenHan: "chen_han", 0, 255;
    /// Odd (for p = 2 even) digit polynomials, reduced modulo the null ideal of Z/p^e
    /// (Geelen–Iliashenko–Kang–Vercauteren 2023).
    Geelen: "geelen", 0, 255;
    /// As `geelen`, with each digit in two steps, or its lifts by lifting polynomials, if that
    /// takes fewer products; the depth is larger.
    GeelenComposed: "geelen_composed", 0, 255;
    /// Odd digit polynomials, reduced modulo what vanishes for |i| <= B (Ma–Huang–Wang–Wang 2024).
    Local: "local", 0, 255;
    /// For p = 2 and e <= 24: chains of products each of which doubles the precision of a bit.
    /// Fewest products, at the depth of `geelen`.
    Doubling: "doubling", 0, 0;
}

impl DigitKind {
    /// The name without a number.
    pub const fn name(self) -> &'static str {
        self.entry().0
    }

    /// The least value of [`DigitMethod::extra`](super::DigitMethod::extra), which the name by
    /// itself stands for.
    pub(super) const fn least_extra(self) -> u8 {
        self.entry().1
    }

    /// Whether [`DigitMethod::extra`](super::DigitMethod::extra) may have this value.
    pub(super) fn has(self, extra: u8) -> bool {
        let (_, least, most) = self.entry();
        (least..=most).contains(&extra)
    }
}

/// All names in one line; `[_N]` follows those that take a number.
pub(crate) fn expected_names() -> String {
    let name = |kind: &DigitKind| {
        let (name, least, most) = kind.entry();
        if least < most { format!("{name}[_N]") } else { name.to_string() }
    };
    let names: Vec<String> = DigitKind::ALL.iter().map(name).collect();
    match &names[..] {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}
