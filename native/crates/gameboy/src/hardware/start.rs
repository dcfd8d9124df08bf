//! How a console begins without boot code: as that of a real one leaves it.

use super::copies::HdmaCopy;
use super::{Hardware, HardwareBus};
use crate::cpu::Cpu;

/// Where boot code leaves DIV's counter, and the line and dot of the picture. On a Game Boy Color it takes longer with
/// a game that knows no colors.
const COUNTER: u16 = 0xABCC;
const PLACE: (u8, u16) = (153, 400);
const COLOR_COUNTER: u16 = 0x1EA0;
const OLD_GAME_COUNTER: u16 = 0x267C;
const COLOR_PLACE: (u8, u16) = (144, 168);

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
const WHITE: [u16; 4] = [0x7FFF; 4];
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
        let color = self.machine.is_color;
        self.hardware.timer.counter = match (color, self.machine.color_mode) {
            (false, _) => COUNTER,
            (true, true) => COLOR_COUNTER,
            (true, false) => OLD_GAME_COUNTER,
        };
        for (address, value) in SOUND {
            self.write_register(address, value);
        }
        self.machine.requested = 1;
        self.hardware.hdma = HdmaCopy::finished();
        self.hardware.oam_copy.register = if color { 0x00 } else { 0xFF };
        let (line, dot) = if color { COLOR_PLACE } else { PLACE };
        self.hardware.ppu.start_in_vblank(line, dot);
        self.machine.joypad.write(0);
        self.machine.color.priority = u8::from(!self.machine.color_mode);
        if color {
            self.start_color();
        }
    }

    fn start_color(&mut self) {
        for address in 0xFF30..0xFF40 {
            self.write_register(address, if address & 1 == 0 { 0x00 } else { 0xFF });
        }
        let color = &mut self.machine.color;
        (color.background.index, color.objects.index) = (0x80, 0x81);
        if self.machine.color_mode {
            (0..8).for_each(|palette| color.background.set(palette, WHITE));
        }
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
