//! Known answers of the standards.

pub const KEY_128: &str = "2b7e151628aed2a6abf7158809cf4f3c";

pub const KEY_192: &str = "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b";

pub const KEY_256: &str = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4";

/// The plaintext of SP 800-38A, appendix F.
pub const PLAIN: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";

/// SP 800-38A, F.1 (ECB): the ciphertexts of [`PLAIN`].
pub const ECB: [[&str; 2]; 3] = [
    [
        KEY_128,
        "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4",
    ],
    [
        KEY_192,
        "bd334f1d6e45f25ff712a214571fa5cc974104846d0ad3ad7734ecb3ecee4eefef7afd2270e2e60adce0ba2face6444e9a4b41ba738d6c72fb16691603c18e0e",
    ],
    [
        KEY_256,
        "f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7",
    ],
];

/// SP 800-38A, F.2 (CBC), with the vector 00 01 .. 0f.
pub const CBC: [[&str; 2]; 3] = [
    [
        KEY_128,
        "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b273bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7",
    ],
    [
        KEY_192,
        "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd",
    ],
    [
        KEY_256,
        "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
    ],
];

/// SP 800-38A, F.5 (CTR), from the counter block f0 f1 .. ff.
pub const CTR: [[&str; 2]; 3] = [
    [
        KEY_128,
        "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee",
    ],
    [
        KEY_192,
        "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e941e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050",
    ],
    [
        KEY_256,
        "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c52b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
    ],
];

/// McGrew and Viega, The Galois/Counter Mode of Operation, appendix B, test cases 4, 10 and 16: 60
/// bytes, the vector cafebabefacedbaddecaf888.
pub const GCM_PLAIN: &str = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";

pub const GCM: [[&str; 2]; 3] = [
    [
        "feffe9928665731c6d6a8f9467308308",
        "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
    ],
    [
        "feffe9928665731c6d6a8f9467308308feffe9928665731c",
        "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710",
    ],
    [
        "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
    ],
];

/// Known answers of single blocks: key, plaintext, ciphertext. FIPS-197, appendices B, C.1, C.2 and
/// C.3.
pub const BLOCKS: [[&str; 3]; 4] = [
    [KEY_128, "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"],
    [
        "000102030405060708090a0b0c0d0e0f",
        "00112233445566778899aabbccddeeff",
        "69c4e0d86a7b0430d8cdb78070b4c55a",
    ],
    [
        "000102030405060708090a0b0c0d0e0f1011121314151617",
        "00112233445566778899aabbccddeeff",
        "dda97ca4864cdfe06eaf70a0ec0d7191",
    ],
    [
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "00112233445566778899aabbccddeeff",
        "8ea2b7ca516745bfeafc49904b496089",
    ],
];

/// FIPS-197, C.1: the results of MixColumns in rounds 1 to 9 of encryption, which rounds 9 to 1 of
/// decryption end with.
pub const MIXED: [&str; 9] = [
    "5f72641557f5bc92f7be3b291db9f91a",
    "ff87968431d86a51645151fa773ad009",
    "4c9c1e66f771f0762c3f868e534df256",
    "6385b79ffc538df997be478e7547d691",
    "f4bcd45432e554d075f1d6c51dd03b3c",
    "9816ee7400f87f556b2c049c8e5ad036",
    "c57e1c159a9bd286f05f4be098c63439",
    "baa03de7a1f9b56ed5512cba5f414d23",
    "e9f74eec023020f61bf2ccf2353c21c7",
];

/// FIPS-197, C.1: start, SubBytes, ShiftRows, MixColumns and key of each round.
pub const STEPS: [[&str; 5]; 9] = [
    [
        "00102030405060708090a0b0c0d0e0f0",
        "63cab7040953d051cd60e0e7ba70e18c",
        "6353e08c0960e104cd70b751bacad0e7",
        "5f72641557f5bc92f7be3b291db9f91a",
        "d6aa74fdd2af72fadaa678f1d6ab76fe",
    ],
    [
        "89d810e8855ace682d1843d8cb128fe4",
        "a761ca9b97be8b45d8ad1a611fc97369",
        "a7be1a6997ad739bd8c9ca451f618b61",
        "ff87968431d86a51645151fa773ad009",
        "b692cf0b643dbdf1be9bc5006830b3fe",
    ],
    [
        "4915598f55e5d7a0daca94fa1f0a63f7",
        "3b59cb73fcd90ee05774222dc067fb68",
        "3bd92268fc74fb735767cbe0c0590e2d",
        "4c9c1e66f771f0762c3f868e534df256",
        "b6ff744ed2c2c9bf6c590cbf0469bf41",
    ],
    [
        "fa636a2825b339c940668a3157244d17",
        "2dfb02343f6d12dd09337ec75b36e3f0",
        "2d6d7ef03f33e334093602dd5bfb12c7",
        "6385b79ffc538df997be478e7547d691",
        "47f7f7bc95353e03f96c32bcfd058dfd",
    ],
    [
        "247240236966b3fa6ed2753288425b6c",
        "36400926f9336d2d9fb59d23c42c3950",
        "36339d50f9b539269f2c092dc4406d23",
        "f4bcd45432e554d075f1d6c51dd03b3c",
        "3caaa3e8a99f9deb50f3af57adf622aa",
    ],
    [
        "c81677bc9b7ac93b25027992b0261996",
        "e847f56514dadde23f77b64fe7f7d490",
        "e8dab6901477d4653ff7f5e2e747dd4f",
        "9816ee7400f87f556b2c049c8e5ad036",
        "5e390f7df7a69296a7553dc10aa31f6b",
    ],
    [
        "c62fe109f75eedc3cc79395d84f9cf5d",
        "b415f8016858552e4bb6124c5f998a4c",
        "b458124c68b68a014b99f82e5f15554c",
        "c57e1c159a9bd286f05f4be098c63439",
        "14f9701ae35fe28c440adf4d4ea9c026",
    ],
    [
        "d1876c0f79c4300ab45594add66ff41f",
        "3e175076b61c04678dfc2295f6a8bfc0",
        "3e1c22c0b6fcbf768da85067f6170495",
        "baa03de7a1f9b56ed5512cba5f414d23",
        "47438735a41c65b9e016baf4aebf7ad2",
    ],
    [
        "fde3bad205e5d0d73547964ef1fe37f1",
        "5411f4b56bd9700e96a0902fa1bb9aa1",
        "54d990a16ba09ab596bbf40ea111702f",
        "e9f74eec023020f61bf2ccf2353c21c7",
        "549932d1f08557681093ed9cbe2c974e",
    ],
];
