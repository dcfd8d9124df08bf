//! The eight buttons and FF00.

use crate::state::saved;

/// A button; the number is its bit: directions first, then the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    Right,
    Left,
    Up,
    Down,
    A,
    B,
    Select,
    Start,
}

impl Button {
    pub const ALL: [Self; 8] =
        [Self::Right, Self::Left, Self::Up, Self::Down, Self::A, Self::B, Self::Select, Self::Start];

    /// By the name that PyBoy uses.
    pub fn from_name(name: &str) -> Option<Self> {
        let names = ["right", "left", "up", "down", "a", "b", "select", "start"];
        names.iter().position(|known| *known == name).map(|index| Self::ALL[index])
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Joypad {
    pressed: u8,
    selected: u8,
    /// What FF00 gives: the reference computes it when the register is written, not when it is read.
    shown: u8,
}

impl Joypad {
    pub fn new() -> Self {
        Self { pressed: 0, selected: 0, shown: 0 }
    }

    /// Whether the button was up before.
    pub fn press(&mut self, button: Button) -> bool {
        let before = self.pressed;
        self.pressed |= 1 << button as u8;
        before != self.pressed
    }

    pub fn release(&mut self, button: Button) {
        self.pressed &= !(1 << button as u8);
    }

    pub fn write(&mut self, value: u8) {
        self.selected = value & 0x30;
        // Bits 4 and 5 read 0, and with both rows chosen, or none, no button shows.
        self.shown = match self.selected {
            0x10 => 0xCF & !(self.pressed >> 4),
            0x20 => 0xCF & !(self.pressed & 0x0F),
            _ => 0xCF,
        };
    }

    pub fn shown(&self) -> u8 {
        self.shown
    }

    /// What the register gives where it follows the buttons.
    pub fn lines(&self) -> u8 {
        let mut low = 0x0F;
        if self.selected & 0x10 == 0 {
            low &= !(self.pressed & 0x0F);
        }
        if self.selected & 0x20 == 0 {
            low &= !(self.pressed >> 4);
        }
        0xC0 | self.selected | low
    }
}

saved!(Joypad { pressed, selected, shown });
