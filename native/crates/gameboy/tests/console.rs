//! The console as its users drive it.

mod common;

use common::started;
use gameboy::{Button, HookAction};

#[test]
fn waiting_loops_are_passed_over_exactly() {
    // One loop waits for LY, the other does the same and also writes, so that it has to be run round by round.
    let waits = [0xF0, 0x44, 0xFE, 0x50, 0x20, 0xFA, 0x04, 0x18, 0xF7];
    let mut fast = started(&waits);
    let mut slow = started(&waits);
    slow.hook(0, 0x7FFF, HookAction::Count); // hooks are looked for at every instruction, so nothing is passed over
    for _ in 0..20 {
        fast.tick(1, false);
        slow.tick(1, false);
        assert_eq!(fast.cycles(), slow.cycles());
        assert_eq!(fast.registers(), slow.registers());
    }
}

#[test]
fn hooks_count_and_stop() {
    let mut gameboy = started(&[0x04, 0x00, 0x18, 0xFC]);
    gameboy.hook(0, 0x150, HookAction::Stop);
    gameboy.hook(0, 0x151, HookAction::Count);
    for times in 0..5 {
        assert_eq!(gameboy.tick(1, false), 0);
        assert_eq!(gameboy.registers().pc, 0x150);
        assert_eq!(gameboy.hook_count(0, 0x151), times);
    }
    gameboy.unhook(0, 0x150);
    assert_eq!(gameboy.tick(1, false), 1);
}

#[test]
fn a_button_is_seen_when_the_register_is_written_and_let_go_of_after_its_frames() {
    // Choose the row of A, read it into C, over and over.
    let mut gameboy = started(&[0x3E, 0x10, 0xE0, 0x00, 0xF0, 0x00, 0x4F, 0x18, 0xF7]);
    assert_eq!(gameboy.registers().c, 0xCF);
    gameboy.button(Button::A, 2);
    gameboy.tick(1, false);
    assert_eq!(gameboy.registers().c, 0xCE);
    gameboy.tick(3, false);
    assert_eq!(gameboy.registers().c, 0xCF);
}

#[test]
fn memory_can_be_written_and_read_in_banks() {
    let mut gameboy = started(&[0x18, 0xFE]);
    gameboy.write(0xC123, 0x77);
    assert_eq!(gameboy.read(0xC123), 0x77);
    assert_eq!(gameboy.read(0xE123), 0x77);
    assert_eq!(gameboy.read_bank(0, 0xC123), Some(0x77));
    assert_eq!(gameboy.read_bank(1, 0x4000), Some(0));
    assert_eq!(gameboy.read_bank(9, 0x4000), None);
}

#[test]
fn only_frames_that_are_asked_for_are_drawn() {
    let mut gameboy = started(&[0x18, 0xFE]);
    let mut picture = vec![1; 4 * gameboy::PIXELS];
    gameboy.write_rgba(&mut picture);
    assert!(picture.iter().all(|byte| *byte == 0));
    gameboy.tick(2, true);
    gameboy.write_rgba(&mut picture);
    assert!(picture.iter().all(|byte| *byte == 0xFF));
}

#[test]
fn an_opcode_that_does_not_exist_stops_the_cpu_and_not_the_frames() {
    for opcode in [0xD3, 0xDB, 0xDD, 0xE3, 0xE4, 0xEB, 0xEC, 0xED, 0xF4, 0xFC, 0xFD] {
        let mut gameboy = started(&[opcode, 0x04]);
        let before = gameboy.cycles();
        assert_eq!(gameboy.tick(3, false), 3);
        assert_eq!(gameboy.cycles() - before, 3 * 70_224);
        assert_eq!(gameboy.registers().pc, 0x150);
        assert_eq!(gameboy.registers().b, 0);
    }
}
