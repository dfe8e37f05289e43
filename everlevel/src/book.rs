//! The pages of the book that contain Rust code; a test compares the list with the pages.

/// One item for each page.
macro_rules! pages {
    ($($name:ident: $path:literal,)*) => {
        $(
            #[doc = include_str!($path)]
            struct $name;
        )*
    };
}

pages! {
    Readme: "../../README.md",
    Install: "../../docs/use/install.md",
    Roles: "../../docs/use/roles.md",
    Rust: "../../docs/use/rust.md",
    Walkthroughs: "../../docs/use/walkthroughs.md",
    Integers: "../../docs/use/integers.md",
    Tables: "../../docs/use/tables.md",
    NoiseAndErrors: "../../docs/use/noise-and-errors.md",
    Planner: "../../docs/choose/planner.md",
    ByHand: "../../docs/choose/by-hand.md",
    Bootstrapping: "../../docs/choose/bootstrapping.md",
    Slots: "../../docs/how/rings-and-slots.md",
    Digits: "../../docs/how/digit-polynomials.md",
    FromHelib: "../../docs/porting/helib.md",
    FromSeal: "../../docs/porting/seal.md",
    FromOpenFhe: "../../docs/porting/openfhe.md",
    FromLattigo: "../../docs/porting/lattigo.md",
    AddDigitRemoval: "../../docs/contribute/digit-removal.md",
}
