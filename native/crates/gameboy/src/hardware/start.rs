//! How a console begins without boot code: as that of a real one leaves it.

use super::{Hardware, HardwareBus};
use super::copies::HdmaCopy;
use crate::cpu::Cpu;

/// DIV's counter, and the dot of the last line, when boot code is through.
const COUNTER: u16 = 0xABCC;
const COLOR_COUNTER: u16 = 0x2674;
const DOT: u16 = 400;

/// What sound registers were last written, with the tone still on that was heard.
const SOUND: [(u16, u8); 8] = [
    (0xFF26, 0x80),
    (0xFF11, 0x80),
    (0xFF12, 0xF3),
    (0xFF13, 0xC1),
    (0xFF14, 0x87),
    (0xFF24, 0x77),
    (0xFF25, 0xF3),
    (0xFF47, 0xFC),
];
/// The colors of a game that knows none: those of most cartridges, for the background and for sprites.
const OLD_BACKGROUND: [u16; 4] = [0x7FFF, 0x1BEF, 0x6180, 0x0000];
const OLD_SPRITES: [u16; 4] = [0x7FFF, 0x421F, 0x1CF2, 0x0000];

impl Hardware {
    /// Where the CPU's registers are after boot code.
    pub fn registers(color: bool, checksum: u8) -> Cpu {
        let begin = Cpu { sp: 0xFFFE, pc: 0x0100, ..Cpu::default() };
        if color {
            return Cpu { a: 0x11, f: 0x80, d: 0xFF, e: 0x56, hl: 0x000D, ..begin };
        }
        let f = if checksum == 0 { 0x80 } else { 0xB0 };
        Cpu { a: 0x01, f, c: 0x13, e: 0xD8, hl: 0x014D, ..begin }
    }
}

impl HardwareBus<'_> {
    /// The same for everything else.
    pub fn start_at_cartridge(&mut self) {
        self.hardware.timer.counter = if self.machine.is_color { COLOR_COUNTER } else { COUNTER };
        for (address, value) in SOUND {
            self.write_register(address, value);
        }
        self.machine.requested = 1;
        self.hardware.hdma = HdmaCopy::finished();
        self.hardware.oam_copy.register = if self.machine.is_color { 0x00 } else { 0xFF };
        self.hardware.ppu.start_in_last_line(DOT);
        self.machine.joypad.write(0);
        self.machine.color.priority = u8::from(!self.machine.color_mode);
    }

    /// What boot code of a Game Boy Color gives to a game that knows no colors.
    pub fn color_old_game(&mut self) {
        let color = &mut self.machine.color;
        for palette in 0..8 {
            color.background.set(palette, OLD_BACKGROUND);
            color.objects.set(palette, OLD_SPRITES);
        }
    }
}
