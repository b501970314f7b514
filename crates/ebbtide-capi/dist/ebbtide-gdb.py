"""Pretty printers for gdb: `source PREFIX/share/ebbtide/ebbtide-gdb.py`.

A scope prints as open or closed, with what it was opened from and the bytes that are free in its
chunk; an arena with whether its scope is open; a heap with the freed blocks that it keeps; containers
with their elements.
"""

import gdb
import gdb.printing

# As in ebbtide.h: flags in the state of a scope, and the alignment of arenas.
CHILD, FROZEN, DEFERS, THREAD = 1, 2, 4, 8
ARENA_ALIGN = 64
# The state of an arena whose scope is open.
OPEN = 1


class Scope:
    def __init__(self, value):
        self.words = value["words_"] if value.type.fields()[0].name == "words_" else value

    def to_string(self):
        top, low = int(self.words["top_"]), int(self.words["low_"])
        state = int(self.words["state_"])
        if int(self.words["chunk_"]) == 0:
            return "a closed scope"
        if state & CHILD:
            parent = state & ~(CHILD | FROZEN | DEFERS)
            origin = "a child of the scope %#x" % parent if parent else "a child"
        else:
            owner = "the thread's arena" if state & THREAD else "the arena"
            origin = "a scope of %s %#x" % (owner, state & ~(ARENA_ALIGN - 1))
        text = "%s, %d bytes free in its chunk" % (origin, max(top - low, 0))
        if state & FROZEN:
            text += ", a child is open"
        return text + ", functions run when it ends" if state & DEFERS else text


class Arena:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        value = self.value
        if value.type.strip_typedefs().tag != "ebb_arena":
            if int(value["handle_"]) == 0:
                return "an arena that was moved from"
            value = value["handle_"].dereference()
        return "an arena %s open scope" % ("with an" if int(value["open_"]) == OPEN else "without an")


class Heap:
    # A list that is longer is not followed to its end: it may be damaged.
    MOST = 100000

    def __init__(self, value):
        self.value = value["heap_"] if value.type.fields()[-1].name == "heap_" else value

    def capacity(self, index):
        """The bytes of the blocks in a class, as ebb_class_of_ in ebbtide_hooks.h has it."""
        if index < 8:
            return 16 * (index + 1)
        return (index % 4 + 5) << (index // 4 + 3)

    def to_string(self):
        scope = int(self.value["scope_"])
        if scope == 0:
            return "a heap without a scope"
        if int(self.value["scope_"].dereference()["chunk_"]) == 0:
            return "a heap over the closed scope %#x" % scope
        blocks = bytes = 0
        free = self.value["free_"]
        for index in range(free.type.range()[1] + 1):
            block = free[index]
            while int(block) != 0 and blocks < self.MOST:
                blocks += 1
                bytes += self.capacity(index)
                block = block.dereference()["next"]
        counted = "freed block" if blocks == 1 else "freed blocks"
        return "a heap over the scope %#x, %d bytes in %d %s" % (scope, bytes, blocks, counted)


class Text:
    def __init__(self, value):
        self.bytes = value["bytes_"] if value.type.fields()[-1].name == "bytes_" else value

    def to_string(self):
        return self.bytes["data"].lazy_string(length=int(self.bytes["length"]))

    def display_hint(self):
        return "string"


class Elements:
    """A container with these fields for the elements, their number, and the capacity if any."""

    def __init__(self, value, title, data, length, capacity):
        self.title = title
        self.data, self.length = value[data], int(value[length])
        self.capacity = None if capacity is None else int(value[capacity])

    def to_string(self):
        text = "%s of length %d" % (self.title, self.length)
        return text if self.capacity is None else "%s, capacity %d" % (text, self.capacity)

    def children(self):
        return (("[%d]" % i, self.data[i]) for i in range(self.length))

    def display_hint(self):
        return "array"


PRINTERS = {
    "ebb_scope": Scope,
    "ebbtide::scope": Scope,
    "ebb_arena": Arena,
    "ebbtide::arena": Arena,
    "ebbtide::fixed_arena": Arena,
    "ebbtide::spilling_arena": Arena,
    "ebb_heap": Heap,
    "ebbtide::pool_resource": Heap,
    "ebb_bytes": Text,
    "ebbtide::string": Text,
}


class Printers(gdb.printing.PrettyPrinter):
    def __init__(self):
        super().__init__("ebbtide")

    def __call__(self, value):
        kind = value.type.unqualified().strip_typedefs()
        if kind.code != gdb.TYPE_CODE_STRUCT:
            return None
        # A struct of C that has a name only by a typedef.
        name = kind.tag or value.type.unqualified().name
        if name in PRINTERS:
            return PRINTERS[name](value)
        if name is not None and name.startswith("ebbtide::vector<"):
            return Elements(value, name, "data_", "size_", "capacity_")
        if name is not None and name.startswith("ebbtide::span<"):
            return Elements(value, name, "data_", "size_", None)
        # EBB_ARRAY(type) has no name of its own, or that of a typedef.
        fields = kind.fields()
        if [field.name for field in fields] == ["data", "length", "capacity"]:
            element = fields[0].type.strip_typedefs()
            if element.code == gdb.TYPE_CODE_PTR and element.target().code != gdb.TYPE_CODE_VOID:
                title = "EBB_ARRAY(%s)" % element.target()
                return Elements(value, title, "data", "length", "capacity")
        return None


gdb.printing.register_pretty_printer(gdb.current_objfile(), Printers(), replace=True)
