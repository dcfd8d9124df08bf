"""Lists that grow, shrink and are changed while somebody runs through them; tuples, dicts and sets."""

from translate.traps.base import Trap

PRICES = {"apple": 3, "pear": 5, "fig": 8}
NAMES = ["apple", "pear", "fig", "apple"]


class RemovedWhileIterated(Trap):
    """The item behind a removed one is skipped."""

    def begin(self):
        self.a = [1, 2, 3, 4]

    def play(self, action):
        seen = 0
        for one in self.a:
            seen = 10 * seen + one
            if one % 2 == self.t % 2:
                self.a.remove(one)
        if len(self.a) < 3:
            self.a.append(action)
        return seen


class RemovedFromALongList(Trap):
    def begin(self):
        self.a = [1, 2, 3, 4, 5, 6, 7, 8]

    def play(self, action):
        seen = 0
        for one in self.a:
            seen = (10 * seen + one) % 10007
            if one % 2 == action % 2:
                self.a.remove(one)
        return seen + 100000 * len(self.a)


class RemovedFromALocalList(Trap):
    def begin(self):
        self.x = 0

    def play(self, action):
        a = [1, 1, 2, 3]
        for one in a:
            if one == 1:
                a.remove(one)
        b = [self.t % 2, action % 2, 1, 0, 1, 1]
        for one in b:
            if one == 1:
                b.remove(one)
        return 100 * len(a) + sum(b)


class AppendedWhileIterated(Trap):
    def begin(self):
        self.x = 0

    def play(self, action):
        a = [3, action]
        for one in a:
            if one > 0 and len(a) < 8:
                a.append(one - 1)
        return sum(a) + 100 * len(a)


class ChangedWhileIterated(Trap):
    """A loop sees the list as it is now."""

    def begin(self):
        self.a = [1, 2, 3]

    def play(self, action):
        total = 0
        for one in self.a:
            self.a[2] = action
            total = 10 * total + one
        for i, one in enumerate(self.a):
            self.a[(i + 1) % 3] += 1
            total = 10 * total + one
        self.a[0] %= 5
        return total


class EnumeratedWhileChanged(Trap):
    def begin(self):
        self.a = [5, 1, 4, 2, 3, 6]

    def play(self, action):
        total = 0
        for i, one in enumerate(self.a):
            total += i * one
            if one == action + 1:
                self.a.pop(i)
                self.a.insert(0, one)
        for one, other in zip(self.a, self.a[1:]):
            if one > other and len(self.a) > 3:
                self.a.pop()
            total += one * other
        if len(self.a) < 6:
            self.a.append(self.t)
        return total


class Backwards(Trap):
    """reversed() runs from the end, whatever happens behind it."""

    def begin(self):
        self.a = [1, 2, 3, 4, 5, 6]

    def play(self, action):
        total = 0
        for one in reversed(self.a):
            total = (3 * total + one) % 1009
            if one % 3 == action:
                self.a.remove(one)
        for i, one in enumerate(reversed(self.a)):
            total += i * one
        if len(self.a) < 5:
            self.a.append(action)
        back = list(reversed(self.a))
        return total + back[0] + 10 * len(back)


class PopAndInsert(Trap):
    def begin(self):
        self.a = [3, 1, 2]

    def play(self, action):
        first = self.a.pop(0)
        self.a.insert(1, action)
        last = self.a.pop()
        self.a.insert(-1, first)
        self.a.append(self.t % 3)
        return first + 10 * last + 100 * self.a[1] + 1000 * self.a[-1]


class PoppedUnderACondition(Trap):
    def begin(self):
        self.a = [3, 1, 2]

    def play(self, action):
        taken = 0
        if action > 1 and self.a:
            taken = self.a.pop(0)
        elif len(self.a) < 6:
            self.a.insert(action, self.t)
        return taken + sum(self.a[1:]) + 10 * len(self.a) + 100 * sum(self.a[:-1])


class InsertFarOut(Trap):
    """A place behind the end is the end, one before the start is the start."""

    def begin(self):
        self.a = [1]

    def play(self, action):
        if len(self.a) < 8:
            self.a.insert(10, action)
            self.a.insert(-10, self.t)
        else:
            self.a.clear()
        return sum(i * one for i, one in enumerate(self.a))


class NegativePlaces(Trap):
    def begin(self):
        self.a = [1, 2]

    def play(self, action):
        if len(self.a) < 6:
            self.a.append(action)
        else:
            del self.a[-2]
        self.a[-1] += 1
        k = -(self.t % 2) - 1
        return self.a[k] + 10 * self.a[-2]


class NegativePlacesAtRunTime(Trap):
    def begin(self):
        self.a = [1, 2]

    def play(self, action):
        if len(self.a) < 6:
            self.a.append(action)
        total = 0
        for i in range(len(self.a)):
            total = 3 * total + self.a[-i]
        return total % 1013


class Slices(Trap):
    """With negative steps and bounds outside."""

    def begin(self):
        self.a = [1, 2, 3, 4]

    def play(self, action):
        self.a[0] += action
        ends = self.a[::-1][1:3] + self.a[-3:] + self.a[7:] + self.a[3:1:-1] + self.a[::2]
        return sum((i + 1) * one for i, one in enumerate(ends))


class SlicesAtRunTime(Trap):
    def begin(self):
        self.a = [1, 2]

    def play(self, action):
        self.a.append(action)
        if len(self.a) > 6:
            self.a = self.a[2:]
        ends = self.a[-3:] + self.a[: -self.t] + self.a[action : 2 * action]
        return sum(ends) + 100 * len(ends)


class SortedByKey(Trap):
    """Stable, also backwards."""

    def begin(self):
        self.a = [(1, 0), (0, 1), (1, 2), (0, 3)]

    def play(self, action):
        self.a.append((self.t % 2, action))
        self.a.sort(key=lambda pair: pair[0])
        self.a.pop(0)
        down = sorted(self.a, key=lambda pair: pair[0], reverse=True)
        whole = sorted(self.a)
        return down[0][1] + 10 * self.a[0][1] + 100 * whole[-1][1]


class SortedNumbers(Trap):
    def begin(self):
        self.a = [3.0, -1.0, 2.0]

    def play(self, action):
        self.a.append(action - 1.5)
        self.a.sort(reverse=True)
        self.a.pop()
        return sum((i + 1) * one for i, one in enumerate(self.a))


class ExtremesOfALongList(Trap):
    """Also where the list holds infinities."""

    def begin(self):
        self.a = [float("inf")]

    def play(self, action):
        low = min(self.a)
        if len(self.a) < 5:
            self.a.append(action * 1.0)
        elif self.t % 2:
            self.a = [float("-inf"), float("inf")]
        return min(low, 99.0) + max(min(self.a), -99.0) + max(min(max(self.a), 7.0), -1)


class Membership(Trap):
    def begin(self):
        self.a = [1, 2]

    def play(self, action):
        if self.t in self.a:
            self.a.remove(self.t)
        elif len(self.a) < 6 and action not in self.a:
            self.a.append(action)
        return (2 in self.a) + 10 * self.a.count(1) + 100 * (action in (1, 3)) + 1000 * (self.t in {2, 4})


class MissingValues(Trap):
    """None among the items."""

    def begin(self):
        self.a = [None, 2, None, 4, 5, 6]

    def play(self, action):
        i = self.t % 6
        self.a[i] = None if self.a[i] is not None else action
        found = self.a.index(None) if None in self.a else -1
        total = 0
        for one in self.a:
            if one is not None:
                total += one
        return found + 10 * self.a.count(None) + 100 * total


class MissingValuesLeftovers(Trap):
    """What an item was before it became None does not count."""

    def begin(self):
        self.a = [1, 2, 3, 4, 5, 6]

    def play(self, action):
        value = action if self.t % 2 else None
        self.a[self.t % 6] = value
        return self.a.count(None) + 10 * (None in self.a) + 100 * self.a.count(value)


class SetsHaveNoDoubles(Trap):
    refused = "set"

    def begin(self):
        self.x = 0

    def play(self, action):
        return len({action, self.t % 4, 1})


class SetMembership(Trap):
    def begin(self):
        self.x = 0

    def play(self, action):
        return (self.t in {action, 3}) + 10 * (action in {0, 2}) + 100 * ((action, self.t) in {(1, 2), (3, 3)})


class SetOfAComprehension(Trap):
    refused = "set"

    def begin(self):
        self.a = [1, 2, 1, 2, 1, 2]

    def play(self, action):
        self.a[self.t % 6] = action
        return len({one for one in self.a})


class Comprehensions(Trap):
    """With conditions, of two loops, with names of their own."""

    def begin(self):
        self.a = [1, 2, 3, 4, 5]

    def play(self, action):
        one = 100
        self.a[self.t % 5] = action
        odd = [one * 2 for one in self.a if one % 2]
        pairs = [(a, b) for a in self.a for b in (1, action) if a != b]
        table = {key: key * action for key in range(3)}
        return one + sum(odd) + len(pairs) + sum(a * b for a, b in pairs) + table[2] + len(odd)


class DictOfNumbers(Trap):
    def begin(self):
        self.counts = {"a": 0, "b": 0}

    def play(self, action):
        key = "a" if action > 1 else "b"
        self.counts["a"] += 1
        total = self.counts[key] + self.counts.get("c", 7)
        for name, count in self.counts.items():
            total += count * len(name)
        return total


class DictWrittenAtRunTime(Trap):
    refused = "key"

    def begin(self):
        self.counts = {0: 0, 1: 0, 2: 0, 3: 0}

    def play(self, action):
        self.counts[int(action)] += 1
        return self.counts[0] + 10 * self.counts[1]


class Tables(Trap):
    """Constant tables, by numbers and by names."""

    def begin(self):
        self.fruit = "fig"

    def play(self, action):
        total = PRICES[self.fruit] + {0: 5, 1: 2, 2: 9, 3: 1}[int(action)] + (4, 3, 2, 1)[action]
        self.fruit = NAMES[action]
        return total + PRICES.get("plum", -1) + 100 * (self.fruit == "fig") + len(self.fruit)


class TwoKindsOfRows(Trap):
    """Two lists of different things, one behind the other."""

    def begin(self):
        self.a, self.b = [1, 2], [(1, 2)]

    def play(self, action):
        if len(self.a) < 5:
            self.a.append(action)
            self.b.append((action, 0))
        both = self.a + self.b
        return len(both) + len(self.b)


class EqualLists(Trap):
    def begin(self):
        self.a = [0, 0]

    def play(self, action):
        self.a[self.t % 2] = action
        pair = (action, self.t)
        return (self.a == [action, 1]) + 2 * (self.a == [0]) + 4 * (tuple(self.a) < (1, 2)) + 8 * (pair >= (1, 3))


class NameOfAPoppedItem(Trap):
    """What was taken out lives on under its name."""

    def begin(self):
        self.rows = [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]

    def play(self, action):
        last = self.rows[-1]
        self.rows.pop()
        self.rows.append([self.t, action])
        middle = self.rows[action]
        self.rows.pop(0)
        self.rows.insert(0, [9, 9])
        return last[0] + 10 * last[1] + 100 * middle[0]


class WrittenAndNeverRead(Trap):
    """A log fills up, and nobody cares: its room is no matter of the state."""

    def begin(self):
        self.log, self.x = [], 0

    def play(self, action):
        self.log.append(action)
        self.x += action
        return self.x


class ThrownAwayInTheEnd(Trap):
    """What is computed from a list that the step itself throws away needs no room either."""

    def begin(self):
        self.rows = [[0, 1], [2, 3]]

    def play(self, action):
        if self.rows:
            self.rows[0][0] = max([a + b for a, b in self.rows], default=0)
        self.rows = []
        return action


class SliceOfAChangingList(Trap):
    refused = "slice"

    def begin(self):
        self.a = [1, 2]

    def play(self, action):
        if len(self.a) < 6:
            self.a.append(action)
        self.a[:1] = [7, 8]
        self.a.pop()
        return sum(self.a)


class ItemsByConstantPairs(Trap):
    """A long loop over constants writes a list, at known places first and then at places of the run time."""

    cells = tuple((row, column) for row in range(3) for column in range(3))

    def begin(self):
        self.numbers = {cell: at for at, cell in enumerate(self.cells)}
        self.here = (0, 0)
        self.dirt = tuple(0 for _ in self.cells)

    def play(self, action):
        self.here = ((self.here[0] + action) % 3, (self.here[1] + 1) % 3)
        out = list(self.dirt)
        for cell in self.cells:
            if cell == self.here or cell in {(1, 1), (0, 2)}:
                out[self.numbers[cell]] = 0
                continue
            if (cell[0] + self.t) % 3 == action:
                out[self.numbers[cell]] += 1
        self.dirt = tuple(out)
        return sum(at * one for at, one in enumerate(self.dirt))
