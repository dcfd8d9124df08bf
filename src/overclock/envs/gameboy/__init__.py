"""Our two Game Boy games and their twins; the emulator and the rest is in `overclock.gameboy`."""
