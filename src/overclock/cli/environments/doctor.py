"""`overclock doctor`: what works on this machine, and how to get the rest."""

import dataclasses

from overclock.cli import output


@dataclasses.dataclass
class Doctor:
    """Show what works on this machine: JAX devices, compilers, Node, sandbox, agents, optional packages.

    Ends with 0 also when optional things are missing; with 1 when environments cannot run here at all.

    Examples:
      overclock doctor
      overclock doctor --json
    """

    json: bool = False
    """Print one JSON object (schema overclock.doctor/1) instead of a table."""

    def run(self) -> int:
        """Examine this machine and print what was found."""
        from overclock import doctor

        with output.console().status("Examining this machine ..."):
            report = doctor.examine()
        if self.json:
            output.emit(report)
        else:
            rows = [[doctor.SYMBOLS[check.status], check.group, check.name, check.line] for check in report.checks]
            output.table(["", "group", "what", "found"], rows)
        return 0 if report.ok else 1
