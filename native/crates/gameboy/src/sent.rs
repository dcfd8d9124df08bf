//! What a program has sent over the cable, for whoever wants to read it: test ROMs print there. No part of a state.

const KEPT: usize = 256;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// FF01 as it was last written.
    pub data: u8,
    bytes: [u8; KEPT],
    /// Bytes since they were last taken; only the latest of them are kept.
    count: usize,
}

impl Sent {
    pub fn new() -> Self {
        Self { data: 0, bytes: [0; KEPT], count: 0 }
    }

    /// FF02 was written: a byte goes out if that starts it, by this console's clock.
    pub fn control(&mut self, value: u8) {
        if value & 0x81 == 0x81 {
            self.bytes[self.count % KEPT] = self.data;
            self.count += 1;
        }
    }

    pub fn take(&mut self) -> Vec<u8> {
        let count = std::mem::take(&mut self.count);
        (count.saturating_sub(KEPT)..count).map(|index| self.bytes[index % KEPT]).collect()
    }
}
