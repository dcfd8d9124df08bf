//! What both classes of Game Boys are made with and asked for: Python's values, checked in one place.

use std::sync::Arc;

use gameboy::{Compat, HIGHEST_RATE, Model, Rom};
use pyo3::prelude::*;

use crate::convert::{chosen, flag, shortly, whole, wrong};

/// Bytes of boot code as it lies in memory. A Game Boy Color's goes on behind the cartridge's header, at 0200.
const DMG_BOOT: usize = 0x100;
const CGB_BOOT: usize = 0x900;

pub fn rom(value: &Bound<'_, PyAny>) -> PyResult<Arc<Rom>> {
    let content: &[u8] =
        value.extract().map_err(|_| wrong(format!("rom must be the bytes of a ROM, got {}.", shortly(value))))?;
    Rom::new(content).map(Arc::new).map_err(|error| wrong(error.to_string()))
}

pub fn boot(value: Option<&Bound<'_, PyAny>>, model: Model, rom: &Rom) -> PyResult<Option<Arc<[u8]>>> {
    let Some(value) = value else { return Ok(None) };
    let content: &[u8] =
        value.extract().map_err(|_| wrong(format!("boot must be bytes or None, got {}.", shortly(value))))?;
    let (whose, length) = if model.is_color(rom) {
        ("Game Boy Color has 2304 bytes, those from 0100 to 01FF unused", CGB_BOOT)
    } else {
        ("Game Boy has 256 bytes", DMG_BOOT)
    };
    if content.len() != length {
        return Err(wrong(format!("Boot code of a {whose}; got {}.", content.len())));
    }
    Ok(Some(Arc::from(content)))
}

pub fn model(value: &Bound<'_, PyAny>) -> PyResult<Model> {
    chosen("model", &[("auto", Model::Auto), ("dmg", Model::Dmg), ("cgb", Model::Cgb)], value)
}

pub fn compat(value: &Bound<'_, PyAny>) -> PyResult<Compat> {
    chosen("compat", &[("pyboy", Compat::PyBoy), ("hardware", Compat::Hardware)], value)
}

/// Samples a second of the sound; 0 are none.
pub fn sample_rate(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    whole("sample_rate", value, HIGHEST_RATE)
}

pub fn sound(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    flag("sound", value)
}

pub fn render(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    flag("render", value)
}

pub fn stop(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    flag("stop", value)
}

pub fn boot_frames(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    whole("boot_frames", value, u32::MAX)
}

pub fn frames(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    whole("The number of frames", value, u32::MAX)
}

/// Bytes of a read.
pub fn length(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    whole("length", value, 0x10000)
}

pub fn address(value: &Bound<'_, PyAny>) -> PyResult<u16> {
    Ok(whole("An address", value, 0xFFFF)? as u16)
}

pub fn byte(value: &Bound<'_, PyAny>) -> PyResult<u8> {
    Ok(whole("A byte", value, 0xFF)? as u8)
}

pub fn bank(value: &Bound<'_, PyAny>) -> PyResult<u16> {
    Ok(whole("A bank", value, 0xFFFF)? as u16)
}

/// Where a hook can be: a bank that the cartridge has, or 0 where there is no ROM.
pub fn place(rom: &Rom, bank: &Bound<'_, PyAny>, address: &Bound<'_, PyAny>) -> PyResult<(u16, u16)> {
    let address = self::address(address)?;
    if address < 0x8000 {
        let last = rom.banks() as u32 - 1;
        return Ok((whole("A hook's bank in this cartridge", bank, last)? as u16, address));
    }
    match self::bank(bank)? {
        0 => Ok((0, address)),
        other => Err(wrong(format!("A hook above 7FFF has bank 0, got {other} with {address:04X}."))),
    }
}
