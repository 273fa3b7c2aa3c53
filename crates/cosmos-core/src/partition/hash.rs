//! The hash that spreads partition keys, Murmur 3: the 32-bit variant for keys of version 1, the
//! 128-bit variant for 64-bit machines for the rest. Always with seed 0, as the service does.
//!
//! It is here because of the crates that have both variants one reads from streams, which may fail,
//! one is not free of `unsafe`, and one does not compile for big-endian machines.

/// 32 bits (`x86_32`).
pub(super) fn murmur3_32(data: &[u8]) -> u32 {
    let (blocks, rest) = data.as_chunks::<4>();
    let mut hash = 0_u32;
    for block in blocks {
        hash = (hash ^ scrambled_32(*block))
            .rotate_left(13)
            .wrapping_mul(5)
            .wrapping_add(0xe654_6b64);
    }
    // Scrambling nothing gives zero: a rest that is empty changes nothing.
    hash ^= scrambled_32(padded(rest));
    // The algorithm counts modulo 2^32.
    #[allow(clippy::cast_possible_truncation)]
    let length = data.len() as u32;
    hash ^= length;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

fn scrambled_32(block: [u8; 4]) -> u32 {
    u32::from_le_bytes(block)
        .wrapping_mul(0xcc9e_2d51)
        .rotate_left(15)
        .wrapping_mul(0x1b87_3593)
}

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// 128 bits (`x64_128`), the second half as the more significant one.
pub(super) fn murmur3_128(data: &[u8]) -> u128 {
    let (blocks, rest) = data.as_chunks::<16>();
    let (mut low, mut high) = (0_u64, 0_u64);
    for block in blocks {
        let (first, second) = scrambled_128(*block);
        low = (low ^ first)
            .rotate_left(27)
            .wrapping_add(high)
            .wrapping_mul(5)
            .wrapping_add(0x52dc_e729);
        high = (high ^ second)
            .rotate_left(31)
            .wrapping_add(low)
            .wrapping_mul(5)
            .wrapping_add(0x3849_5ab5);
    }
    let (first, second) = scrambled_128(padded(rest));
    let length = data.len() as u64;
    low ^= first ^ length;
    high ^= second ^ length;
    low = low.wrapping_add(high);
    high = high.wrapping_add(low);
    low = avalanche_64(low);
    high = avalanche_64(high);
    low = low.wrapping_add(high);
    high = high.wrapping_add(low);
    u128::from(high) << 64 | u128::from(low)
}

fn scrambled_128(block: [u8; 16]) -> (u64, u64) {
    let block = u128::from_le_bytes(block);
    // Its two halves.
    #[allow(clippy::cast_possible_truncation)]
    let (first, second) = (block as u64, (block >> 64) as u64);
    (
        first.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2),
        second.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1),
    )
}

fn avalanche_64(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

fn padded<const N: usize>(rest: &[u8]) -> [u8; N] {
    let mut block = [0; N];
    block[..rest.len()].copy_from_slice(rest);
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts_have_known_hashes() {
        for (text, short, long) in [
            ("", 0, 0),
            (
                "hello",
                0x248b_fa47,
                0x5b1e_906a_48ae_1d19_cbd8_a7b3_41bd_9b02,
            ),
            (
                "sample-test",
                0x7b25_fc4d,
                0xdc19_d9dd_5c51_f2c4_88e0_e6db_392c_6c73,
            ),
            (
                "The quick brown fox jumps over the lazy dog",
                0x2e4f_f723,
                0x7a43_3ca9_c49a_9347_e34b_bc7b_bc07_1b6c,
            ),
        ] {
            assert_eq!(murmur3_32(text.as_bytes()), short, "{text:?}");
            assert_eq!(murmur3_128(text.as_bytes()), long, "{text:?}");
        }
    }

    /// Made with the crate `murmur3`, version 0.5.2.
    #[test]
    fn every_length_of_the_rest_has_its_known_hash() {
        let data: Vec<u8> = (0..33_u8).map(|i| i.wrapping_mul(73) ^ 0xa5).collect();
        for (length, short, long) in VECTORS {
            assert_eq!(murmur3_32(&data[..length]), short, "{length} bytes");
            assert_eq!(murmur3_128(&data[..length]), long, "{length} bytes");
        }
    }

    #[rustfmt::skip]
    const VECTORS: [(usize, u32, u128); 33] = [
        (1, 0x21aa_1d86, 0x3052_8092_9124_3d6d_423f_7f07_3f32_6663),
        (2, 0xbc5a_3740, 0x9800_16fc_444b_84d8_4ae3_9a73_46c7_83a3),
        (3, 0x3b14_be3c, 0xf4f5_d0ef_bd35_8db2_1c82_7e9d_6e40_b721),
        (4, 0x0acc_0f9e, 0x1754_4531_0f4d_8393_fed5_b3b0_f4f3_fa8e),
        (5, 0x873d_adf8, 0xb861_2e2c_bd56_b595_9391_53cf_e7e8_c1aa),
        (6, 0x3343_7f09, 0x777f_d0b1_a4d7_31c8_50fe_2b3c_32cc_9637),
        (7, 0xcf26_eb3e, 0x2d37_70d7_2069_b7ae_49a0_2053_f9f2_cf48),
        (8, 0x8fc5_b228, 0xcd40_0794_f238_2b93_3f6b_4816_3841_b075),
        (9, 0x0194_3e3d, 0xdeff_e18d_7c78_9230_d267_0cdc_eaac_26cf),
        (10, 0xf5c4_fb92, 0x6362_1a16_0c90_84b0_430e_aaf9_3650_e306),
        (11, 0x1a26_5fe4, 0x91da_b00e_cb91_3411_b72e_3bbf_bb65_df71),
        (12, 0x05b9_0b0d, 0x2357_dd13_138b_5611_45f0_1492_1738_19b6),
        (13, 0xb7c4_7887, 0x3a93_457b_b646_2af4_8787_2106_fab9_de8d),
        (14, 0xd0cf_3e24, 0x666d_9291_ef62_2615_d00d_4d47_def0_a435),
        (15, 0xe4fe_d92d, 0x499d_1311_c1a2_8c37_f5f7_6b48_b65a_aea9),
        (16, 0x4bf3_fefa, 0xf46f_d95c_2d1e_fe25_8ff1_4f38_816d_906a),
        (17, 0xf148_2089, 0x44ab_9cd7_70cc_a3b1_c4a5_4941_8e19_614a),
        (18, 0xc793_2fd3, 0xd7af_ac1d_9963_777f_2310_bdf9_0f30_f940),
        (19, 0xff05_499f, 0xed2b_6863_f00c_8abd_38a1_ff8c_6776_a1a4),
        (20, 0x27c5_a649, 0xa58c_50ae_d228_4e7f_3331_97de_32ce_d75d),
        (21, 0x0e79_d55e, 0x687d_f86c_e23f_2a1f_c2c0_0ea0_8647_9c5c),
        (22, 0x6203_557f, 0xacea_7245_7bc9_140b_48b2_66e2_59b8_c668),
        (23, 0x434c_94bd, 0x4544_b5d9_5f0a_e04b_8e7f_e587_1591_a4bf),
        (24, 0xb099_bc98, 0xc53c_94e6_30ec_bcdf_8d9e_ed41_0828_50df),
        (25, 0xd7b9_3f9d, 0xee32_fb99_fc13_8abf_cff9_5010_ed15_78a2),
        (26, 0xb95e_2560, 0xc7a4_182c_f8a4_c606_b5d5_2fda_2964_749e),
        (27, 0xb8a0_f8db, 0x078a_5114_5159_0a7b_d229_8b68_ec05_17e2),
        (28, 0x2123_2c4b, 0x14b7_a56b_add6_b081_503a_98d8_4a2d_f69b),
        (29, 0x69a6_dc46, 0x0ffd_5bd5_1df6_d302_8606_2b23_29e2_5fbd),
        (30, 0x904c_8ff2, 0x7cd2_2dd0_f8a0_f51a_bdc9_4b5c_b232_a9df),
        (31, 0x7d7c_eb7c, 0xe8ee_0e64_1f27_cfc0_3afb_e97d_0f49_268d),
        (32, 0xfd06_e3ad, 0x60e5_7a35_d3cc_337f_8c79_8994_6914_77ed),
        (33, 0x8787_601c, 0x70fd_d9bb_ed5f_0dce_408a_052c_0ed7_bc82),
    ];
}
