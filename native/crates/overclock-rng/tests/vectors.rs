//! The same numbers as `overclock.env.rng`: `vectors.csv` is written by `make_vectors.py` from the Python generator.

use overclock_rng::{Rng, Section};

const VECTORS: &str = include_str!("vectors.csv");

/// A column that holds a 64-bit pattern, in hexadecimal.
fn bits(column: &str) -> u64 {
    u64::from_str_radix(column, 16).expect("hexadecimal")
}

fn f32_bits(column: &str) -> f32 {
    f32::from_bits(bits(column) as u32)
}

/// The value that this crate gives for a row, as bits.
fn value(kind: &str, seed: u64, lane: Option<u32>, counter: u32, section: Section, site: u32, more: &[&str]) -> u64 {
    let stream = Rng::from_seed(seed);
    let stream = lane.map_or(stream, |lane| stream.lane(lane));
    let rng = Rng { counter, section, ..stream };
    match kind {
        "k0" => rng.k0.into(),
        "k1" => rng.k1.into(),
        "word" => rng.word(site, bits(more[0]) as u32).into(),
        "unit_f32" => rng.unit_f32(site).to_bits().into(),
        "unit_f64" => rng.unit_f64(site).to_bits(),
        "uniform_f32" => rng.uniform_f32(site, f32_bits(more[0]), f32_bits(more[1])).to_bits().into(),
        "uniform_f64" => rng.uniform_f64(site, f64::from_bits(bits(more[0])), f64::from_bits(bits(more[1]))).to_bits(),
        "integers" => rng.integers(site, bits(more[0]) as u32).into(),
        other => panic!("vectors.csv has an unknown kind {other}"),
    }
}

#[test]
fn every_vector_of_the_python_side_is_met_bit_for_bit() {
    let rows: Vec<&str> = VECTORS.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(rows.len() > 200, "only {} vectors", rows.len());
    for row in rows {
        let columns: Vec<&str> = row.split(',').collect();
        let [kind, seed, lane, counter, section, site, expected, more @ ..] = columns.as_slice() else {
            panic!("a short row: {row}");
        };
        let lane = (!lane.is_empty()).then(|| bits(lane) as u32);
        let section = Section::from_number(bits(section) as u32).expect("a section");
        let got = value(kind, bits(seed), lane, bits(counter) as u32, section, bits(site) as u32, more);
        assert_eq!(got, bits(expected), "{row}");
    }
}

#[test]
fn words_are_those_of_consecutive_sites() {
    let rng = Rng::from_seed(7).of_section(Section::Action);
    let expected: Vec<u32> = (3..8).map(|site| rng.word(site, 1)).collect();
    assert_eq!(rng.words(3, 5, 1).collect::<Vec<_>>(), expected);
}

#[test]
fn advancing_wraps_and_keeps_the_section() {
    let rng = Rng { counter: u32::MAX, section: Section::Reset, ..Rng::from_seed(1) };
    assert_eq!(rng.advance(), Rng { counter: 0, ..rng });
}

#[test]
fn integers_stay_below_n_and_reach_both_ends() {
    let rng = Rng::from_seed(3);
    let seen: Vec<u32> = (0..2000).map(|site| rng.integers(site, 3)).collect();
    assert!((0..3).all(|n| seen.contains(&n)) && seen.iter().all(|&n| n < 3));
    assert_eq!(rng.integers(0, 1), 0);
}

#[test]
fn a_lane_does_not_depend_on_the_batch_it_is_part_of() {
    let seed = Rng::from_seed(11);
    assert!(seed.lanes(4).eq(seed.lanes(9).take(4)));
    assert_ne!(seed.lane(0), seed.lane(1));
}

#[test]
fn unknown_sections_have_no_name() {
    assert_eq!(Section::from_number(1), Some(Section::Reset));
    assert_eq!(Section::from_number(6), None);
}
