//! Addresses at which something is counted, or a run is stopped.

/// What happens when the CPU is about to execute the instruction at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookAction {
    Count,
    Stop,
}

#[derive(Clone, Copy, Debug)]
struct Hook {
    bank: u16,
    address: u16,
    action: HookAction,
    count: u64,
}

/// Few, so a list is as good as a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hooks(Vec<Hook>);

impl Hooks {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn add(&mut self, bank: u16, address: u16, action: HookAction) {
        self.remove(bank, address);
        self.0.push(Hook { bank, address, action, count: 0 });
    }

    pub fn remove(&mut self, bank: u16, address: u16) {
        self.0.retain(|hook| (hook.bank, hook.address) != (bank, address));
    }

    pub fn count(&self, bank: u16, address: u16) -> u64 {
        self.0.iter().find(|hook| (hook.bank, hook.address) == (bank, address)).map_or(0, |hook| hook.count)
    }

    /// Whether the run stops here.
    pub fn reach(&mut self, bank: u16, address: u16) -> bool {
        let Some(hook) = self.0.iter_mut().find(|hook| (hook.bank, hook.address) == (bank, address)) else {
            return false;
        };
        hook.count += 1;
        hook.action == HookAction::Stop
    }
}
