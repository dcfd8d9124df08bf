//! Python values in, Rust values out; what does not fit becomes one sentence.

use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use overclock_vector::Autoreset;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBool;

/// A positive whole number.
pub fn count(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u32> {
    let number = if value.is_instance_of::<PyBool>() { None } else { value.extract::<u32>().ok() };
    number
        .filter(|&number| number > 0 && i32::try_from(number).is_ok())
        .ok_or_else(|| wrong(format!("{name} must be a positive whole number, got {}.", show(value))))
}

/// A whole number from 0 to `most`.
pub fn whole(name: &str, value: &Bound<'_, PyAny>, most: u32) -> PyResult<u32> {
    let number = if value.is_instance_of::<PyBool>() { None } else { value.extract().ok() };
    number
        .filter(|&number| number <= most)
        .ok_or_else(|| wrong(format!("{name} must be a whole number from 0 to {most}, got {}.", shortly(value))))
}

/// Python's bool, or NumPy's.
pub fn flag(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.extract().map_err(|_| wrong(format!("{name} must be True or False, got {}.", shortly(value))))
}

/// What a word stands for.
pub fn chosen<T: Copy>(name: &str, known: &[(&str, T)], value: &Bound<'_, PyAny>) -> PyResult<T> {
    let found = known.iter().find(|(word, _)| value.extract().is_ok_and(|given: &str| given == *word));
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let words: Vec<String> = known.iter().map(|(word, _)| format!("'{word}'")).collect();
        wrong(format!("{name} must be one of {}, got {}.", words.join(", "), shortly(value)))
    })
}

/// An auto-reset mode by its name.
pub fn autoreset(name: &str) -> PyResult<Autoreset> {
    let known = Autoreset::NAMES.into_iter().find(|(known, _)| *known == name);
    known
        .map(|(_, mode)| mode)
        .ok_or_else(|| wrong(format!("autoreset must be 'same_step', 'next_step' or 'off', got '{name}'.")))
}

/// A time limit, or none.
pub fn max_steps(steps: Option<i64>) -> PyResult<Option<i32>> {
    let limit = |steps: i64| {
        let limit = i32::try_from(steps).ok().filter(|&steps| steps > 0);
        limit.ok_or_else(|| wrong(format!("max_steps must be a positive 32-bit number or None, got {steps}.")))
    };
    steps.map(limit).transpose()
}

/// A seed: any whole number, of which the low 64 bits count, as in `Rng.of`.
pub fn seed(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(seed) = value.extract::<u64>() {
        return Ok(seed);
    }
    let index = value.py().import("operator")?.call_method1("index", (value,));
    let index = index.map_err(|_| wrong(format!("{name} must be a whole number, got {}.", show(value))))?;
    index.bitand(u64::MAX)?.extract()
}

/// One seed or None per lane.
pub fn seeds(value: &Bound<'_, PyAny>, num_envs: usize) -> PyResult<Vec<Option<u64>>> {
    let items = value.try_iter().map_err(|_| wrong(format!("seeds must be a sequence, got {}.", show(value))))?;
    let seeds: Vec<Option<u64>> = items
        .map(|item| {
            let item = item?;
            if item.is_none() { Ok(None) } else { seed("a seed", &item).map(Some) }
        })
        .collect::<PyResult<_>>()?;
    if seeds.len() != num_envs {
        return Err(wrong(format!("Got {} seeds for {num_envs} environments.", seeds.len())));
    }
    Ok(seeds)
}

/// One bool per lane.
pub fn mask(value: &Bound<'_, PyAny>, num_envs: usize) -> PyResult<Vec<bool>> {
    let bytes = as_bytes(&as_array(value, "mask", "bool", &[num_envs])?)?;
    let bytes = bytes.cast::<PyArrayDyn<u8>>()?.try_readonly()?;
    Ok(bytes.as_slice()?.iter().map(|&byte| byte != 0).collect())
}

/// `width` float32 numbers per lane.
pub fn rows<'py>(
    name: &str,
    value: &Bound<'py, PyAny>,
    num_envs: usize,
    width: usize,
) -> PyResult<PyReadonlyArrayDyn<'py, f32>> {
    let array = as_array(value, name, "float32", &[num_envs, width])?;
    Ok(array.cast::<PyArrayDyn<f32>>()?.try_readonly()?)
}

/// One of `n` choices per lane, into `into` (which is left unfinished on error).
pub fn choices<A>(
    name: &str,
    value: &Bound<'_, PyAny>,
    num_envs: usize,
    n: i64,
    choice: impl Fn(i64) -> A,
    into: &mut Vec<A>,
) -> PyResult<()> {
    // The two usual dtypes are read in place; everything else that holds whole numbers is converted first.
    if let Some(array) = in_place::<i32>(value, &[num_envs]) {
        return take_choices(name, array.as_slice()?, n, choice, into);
    }
    if let Some(array) = in_place::<i64>(value, &[num_envs]) {
        return take_choices(name, array.as_slice()?, n, choice, into);
    }
    let numpy = value.py().import("numpy")?;
    let array = numpy.call_method1("asarray", (value,)).map_err(|_| wrong(format!("{name} are not an array.")))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !["i", "u", "b"].contains(&kind.as_str()) {
        return Err(wrong(format!("{name} must be whole numbers, got {}.", array.getattr("dtype")?)));
    }
    let array = as_array(&array, name, "int64", &[num_envs])?;
    let array = array.cast::<PyArrayDyn<i64>>()?.try_readonly()?;
    take_choices(name, array.as_slice()?, n, choice, into)
}

fn take_choices<T: Copy + Into<i64>, A>(
    name: &str,
    numbers: &[T],
    n: i64,
    choice: impl Fn(i64) -> A,
    into: &mut Vec<A>,
) -> PyResult<()> {
    into.clear();
    let unfit = |number: T| !(0..n).contains(&number.into());
    // All are looked at before any is named: a loop that cannot end early is a few vector instructions.
    if numbers.iter().fold(false, |any, &number| any | unfit(number)) {
        let lane = numbers.iter().position(|&number| unfit(number)).unwrap_or_default();
        let (last, number): (i64, i64) = (n - 1, numbers[lane].into());
        return Err(wrong(format!("{name} must be 0 to {last}, got {number} in lane {lane}.")));
    }
    into.extend(numbers.iter().map(|&number| choice(number.into())));
    Ok(())
}

/// One number per lane, given as rows of one and limited to [-1, 1], into `into` (which is left unfinished on error).
pub fn directions(value: &Bound<'_, PyAny>, num_envs: usize, into: &mut Vec<f32>) -> PyResult<()> {
    let array = match in_place::<f32>(value, &[num_envs, 1]) {
        Some(array) => array,
        None => rows("Actions", value, num_envs, 1)?,
    };
    let numbers = array.as_slice()?;
    into.clear();
    if numbers.iter().fold(false, |any, number| any | number.is_nan()) {
        let lane = numbers.iter().position(|number| number.is_nan()).unwrap_or_default();
        return Err(wrong(format!("Actions must be numbers, got nan in lane {lane}.")));
    }
    into.extend(numbers.iter().map(|number| number.clamp(-1.0, 1.0)));
    Ok(())
}

fn in_place<'py, T: numpy::Element>(value: &Bound<'py, PyAny>, shape: &[usize]) -> Option<PyReadonlyArrayDyn<'py, T>> {
    let array = value.cast::<PyArrayDyn<T>>().ok()?;
    if array.shape() != shape || !array.is_c_contiguous() {
        return None;
    }
    array.try_readonly().ok().filter(|array| array.as_slice().is_ok())
}

/// The value as a C-contiguous, aligned array of a dtype and shape, copied only where it is not one already.
fn as_array<'py>(value: &Bound<'py, PyAny>, name: &str, dtype: &str, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let numpy = value.py().import("numpy")?;
    let array = numpy
        .call_method1("require", (value, dtype, "CAE"))
        .map_err(|_| wrong(format!("{name} cannot be converted to {dtype}.")))?;
    let found: Vec<usize> = array.getattr("shape")?.extract()?;
    if found != shape {
        return Err(wrong(format!("{name} must have shape {}, got {}.", tuple(shape), tuple(&found))));
    }
    Ok(array)
}

/// The bytes of a bool array. NumPy memory may hold bytes that Rust must not read or keep as `bool`.
pub fn as_bytes<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    array.call_method1("view", ("uint8",))
}

/// A shape as Python writes it.
pub fn tuple(shape: &[usize]) -> String {
    let inside: Vec<String> = shape.iter().map(ToString::to_string).collect();
    format!("({}{})", inside.join(", "), if shape.len() == 1 { "," } else { "" })
}

/// A `ValueError` with a sentence.
pub fn wrong(sentence: String) -> PyErr {
    PyValueError::new_err(sentence)
}

/// A value as Python shows it, for an error's sentence.
pub fn show(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "something unprintable".into(), |shown| shown.to_string())
}

/// The same, as far as it fits into a sentence.
pub fn shortly(value: &Bound<'_, PyAny>) -> String {
    const MOST: usize = 60;
    let shown = show(value);
    if shown.chars().count() <= MOST { shown } else { shown.chars().take(MOST).chain("...".chars()).collect() }
}
