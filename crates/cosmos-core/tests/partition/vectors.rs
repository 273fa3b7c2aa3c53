//! Effective partition keys that other clients of the service compute, too.

use cosmos_core::partition::PartitionKeyKind::{HashV1, HashV2, MultiHash};

use crate::{definition, point};

/// The header, and the effective partition keys of versions 1 and 2.
const SINGLE: [(&str, &str, &str); 27] = [
    ("[]", "", ""),
    (
        "[{}]",
        "05C1D529E345DC00",
        "11622DAA78F835834610ABE56EFF5CB5",
    ),
    (
        "[null]",
        "05C1ED45D7475601",
        "378867E4430E67857ACE5C908374FE16",
    ),
    (
        "[true]",
        "05C1D7C5A903D803",
        "0E711127C5B5A8E4726AC6DD306A3E59",
    ),
    (
        "[false]",
        "05C1DB857D857C02",
        "2FE1BE91E90A3439635E0E9E37361EF2",
    ),
    (
        r#"[""]"#,
        "05C1CF33970FF80800",
        "32E9366E637A71B4E710384B2F4970A0",
    ),
    (
        r#"["partitionKey"]"#,
        "05C1E1B3D9CD2608716273756A756A706F4C667A00",
        "013AEFCF77FA271571CF665A58C933F1",
    ),
    (
        r#"["redmond"]"#,
        "05C1EFE313830C087366656E706F6500",
        "22E342F38A486A088463DFF7838A5963",
    ),
    (
        r#"["asdf"]"#,
        "05C1E7035DAF84086274656700",
        "208BF1D598F5B63AD5520F04FE58C5E8",
    ),
    (
        r#"["/path1"]"#,
        "05C1E56D31A7140830716275693200",
        "3499FD5198AE0F1EB6B77F6E428D2FF0",
    ),
    (
        r#"["日本"]"#,
        "05C1DB17971FC408E798A6E79DAD00",
        "2F64A78CFF1F1D412A8B6220090E9767",
    ),
    (
        "[0]",
        "05C1BF6DA11560058000",
        "155B95BEDAC4B1E9EC1CDC9BB0DDDE58",
    ),
    (
        "[-0.0]",
        "05C1E703ED99A0058000",
        "3D018BB1DF3DB27235766E81FD10406E",
    ),
    (
        "[1]",
        "05C1ED172B6B2605BFF0",
        "20CD98B339BA78A5D0CF6953B87070B0",
    ),
    (
        "[-1]",
        "05C1D1A5BDDF9C054010",
        "19938E7A936C1C5B9E3AE842BBC16839",
    ),
    (
        "[5]",
        "05C1D9C1C5517C05C014",
        "19C08621B135968252FB34B4CF66F811",
    ),
    (
        "[5.123124190509124]",
        "05C1CD6757FB7805C0153F858949735550",
        "0EF2E2D82460884AF0F6440BE4F726A8",
    ),
    (
        "[-128]",
        "05C1D73349F54C053FA0",
        "01DAEDABF913540367FE219B2AD06148",
    ),
    (
        "[127]",
        "05C1DD539DDFCC05C05FE0",
        "0C507ACAC853ECA7977BF4CEFB562A25",
    ),
    (
        "[2147483647]",
        "05C1E1F503DFB205C1DFFFFFFFFC",
        "2D9349D64712AEB5EB1406E2F0BE2725",
    ),
    (
        "[-2147483648]",
        "05C1DFBF252BCC053E20",
        "0B1660D5233C3171725B30D4A5F4CC1F",
    ),
    (
        "[9223372036854775807]",
        "05C1B799AB2DD005C3E0",
        "2EDB959178DFCCA18983F89384D1629B",
    ),
    (
        "[-9223372036854775808]",
        "05C1DB35F33D1C053C20",
        "23D5C6395512BDFEAFADAD15328AD2BB",
    ),
    (
        "[5E-324]",
        "05C1E5C91F4D3005800101010101010102",
        "0E6CBA63A280927DE485DEF865800139",
    ),
    (
        "[1.7976931348623157E308]",
        "05C1CBE367C53005FFEFFFFFFFFFFFFFFE",
        "31424D996457102634591FF245DBCC4D",
    ),
    (
        r#"["quote\"backslash\\slash/newline\n"]"#,
        "05C1E739E3AD88087276707566236362646C746D6274695D746D627469306F66786D6A6F660B00",
        "0A75245A5A77FB1C92F7AB9E0FD5E73F",
    ),
    (
        r#"["café 東京 🚀"]"#,
        "05C1DF0501C73008646267C4AA21E79EB2E5BBAD21F1A09B8100",
        "389ED563F219577470F42691A5234A68",
    ),
];

#[test]
fn keys_of_one_value_lie_where_other_clients_put_them() {
    for (header, first, second) in SINGLE {
        assert_eq!(point(definition(HashV1, 1), header), first, "{header}");
        assert_eq!(point(definition(HashV2, 1), header), second, "{header}");
    }
}

#[test]
fn strings_of_100_and_more_characters_are_cut_by_version_1_alone() {
    let cut = format!("05C1EB5921F70608{}00", "62".repeat(100));
    for (length, second) in [
        (100, "0DBD7D229437BB665DE6417747994D57"),
        (101, "08042541D30C8BF90D7092B1519AE0BC"),
        (1024, "332BDF5512AE49615F32C7D98C2DB86C"),
    ] {
        let header = format!("[\"{}\"]", "a".repeat(length));
        assert_eq!(point(definition(HashV1, 1), &header), cut, "{length}");
        assert_eq!(point(definition(HashV2, 1), &header), second, "{length}");
    }
}

#[test]
fn a_key_of_several_values_is_hashed_as_one_unless_it_is_hierarchical() {
    let header = r#"[5,"redmond",true,null]"#;
    assert_eq!(
        point(definition(HashV1, 4), header),
        "05C1ED7F9B95BA05C014087366656E706F65000301"
    );
    assert_eq!(
        point(definition(HashV2, 4), header),
        "3032DECBE2AB1768D8E0AEDEA35881DF"
    );
    for (header, expected) in [
        (
            r#"["redmond",5]"#,
            "22E342F38A486A088463DFF7838A596319C08621B135968252FB34B4CF66F811",
        ),
        (
            r#"["/path1","/path2"]"#,
            "3499FD5198AE0F1EB6B77F6E428D2FF027A1848BD1102A3B65AFF266874D0FF5",
        ),
        (
            r#"["",true]"#,
            "32E9366E637A71B4E710384B2F4970A00E711127C5B5A8E4726AC6DD306A3E59",
        ),
    ] {
        assert_eq!(point(definition(MultiHash, 2), header), expected);
    }
}

/// Where the cut falls between, into and behind characters of several bytes: the text, what
/// follows the marker of the hash, and the bytes before the repeated `a`, their number, and the
/// bytes behind them.
#[test]
fn version_1_cuts_between_utf_16_code_units_and_never_panics() {
    for (prefix, count, suffix, hash, before, after) in [
        (
            "tenant\0",
            91,
            "é",
            "C1EFBD31E17408",
            "75666F626F7501",
            "C4AA00",
        ),
        (
            "tenant\0",
            92,
            "é",
            "C1C7CDE1BBB008",
            "75666F626F7501",
            "C4AA",
        ),
        (
            "tenant\0",
            92,
            "éz",
            "C1C7CDE1BBB008",
            "75666F626F7501",
            "C4AA",
        ),
        ("", 97, "😀", "C1C973BF796808", "", "F1A09981"),
        ("", 98, "😀", "C1DD87B7E74C08", "", "F1A099"),
        ("", 99, "😀", "C1E153DB455808", "", "F0C0"),
        ("", 100, "😀", "C1EB5921F70608", "", "00"),
        ("", 99, "€", "C1D747E54D9008", "", "E383"),
    ] {
        let text = format!("{prefix}{}{suffix}", "a".repeat(count));
        let header = cosmos_core::PartitionKey::from(&text).to_string();
        // The first bytes of the text are one more, as all are.
        let expected = format!("05{hash}{before}{}{after}", "62".repeat(count));
        assert_eq!(point(definition(HashV1, 1), &header), expected, "{text}");
    }
}

#[test]
fn version_1_counts_characters_beyond_ascii_once() {
    let text = "абвгдеёжзийклмнопрстуфхцчшщъыьэюя".repeat(4);
    for (length, hash) in [
        (49, "05C1C1BD37FE08"),
        (50, "05C1B339EF472008"),
        (51, "05C1EB1F29DBFA08"),
        (99, "05C1E72F79C71608"),
        (100, "05C1E3653D9F3E08"),
        (101, "05C1E3653D9F3E08"),
    ] {
        let text: String = text.chars().take(length).collect();
        let key = cosmos_core::PartitionKey::from(&text).to_string();
        let found = point(definition(HashV1, 1), &key);
        assert!(found.starts_with(hash), "{length}: {found}");
        // Two bytes a character; beyond 100 of them there is one more and no end.
        let bytes = if length <= 50 { 2 * length + 1 } else { 101 };
        assert_eq!(found.len(), hash.len() + 2 * bytes, "{length}: {found}");
    }
}
