"""Programs that save, restore, assign and train in random orders, as plain data that both sides run.

A program is a list of steps, dicts with "do" and its arguments:

  object   on                      makes an object without fields
  variable on field value          sets field "a" or "b" to a new variable of [value, value+1]
  make     on field value          makes variable "g" or "h" if there is none
  field    on field other          sets field "x" or "y" to an object
  append   on field other          to the tracked list "l", or the plain slice "s"
  put      on field key other      into the tracked map "m", or the plain map "d"
  attach   on field other          a child "e" or "f"
  write    on field value how      assigns, "directly" or in a "step"
  train    on                      adds [1, 2] to all variables below
  drop     on field                takes the field's object away
  share    on field other key      sets field "a" or "b" to the variable that another object has as key
  optimizer on                     attaches an optimizer without slots as "o" if there is none
  slot     on field value          sets the optimizer's slot "m" of the object's variable to a value; it may be new
  open     on how                  a new Checkpoint of the object ("root"), of an edge to it ("edge") or of a path of two ("path")
  save     ck file
  restore  ck file how             "strict", "partial", "missing" or "both"
  manage   ck file                 a manager of the Checkpoint in a directory of that number saves; one Checkpoint has several
  latest   ck other file how       restores the latest of another Checkpoint's directory
  assert   how                     that the last restore is "consumed", or that "existing" objects matched
  end                              saves every object below one root

Ours must have the same values as TensorFlow in every file, and the same answers to assertions, up to the step that it
refuses, if any: check prints how many it does.
"""
import glob
import json
import os
import random

PROGRAMS = 1000
SLOT_PROGRAMS = 200
STEPS = {"variable": 6, "field": 5, "append": 4, "put": 4, "attach": 2, "make": 3, "write": 3, "train": 4, "drop": 2, "open": 2,
         "save": 5, "restore": 6, "manage": 4, "latest": 3, "assert": 3, "again": 3, "share": 3}
SLOT_STEPS = {"make": 4, "variable": 1, "optimizer": 4, "slot": 4, "save": 3, "restore": 4, "again": 3, "write": 1}


def generate(seed):
    rng = random.Random(seed)
    steps, objects, checkpoints, files, values, managed = [], 0, 0, 0, 0, []

    def do(what, **args):
        steps.append(dict(do=what, **args))

    def new():
        nonlocal objects
        do("object", on=objects)
        objects += 1
        return objects - 1

    def value():
        nonlocal values
        values += 1
        return 10.0 * values

    def restore(ck, hows):
        if files:
            do("restore", ck=ck, file=rng.randrange(files), how=rng.choice(hows))

    new()
    for _ in range(rng.randint(6, 30)):
        on = rng.choice([*range(min(objects, 4)), objects - 1])
        what = rng.choices(list(STEPS), STEPS.values())[0]
        if what in ("field", "append", "put", "attach"):
            other = new() if objects < 2 or rng.random() < 0.6 else rng.randrange(objects)
        if what == "variable":
            do(what, on=on, field=rng.choice("ab"), value=value())
        elif what == "make":
            do(what, on=on, field=rng.choice("gh"), value=value())
        elif what == "field":
            do(what, on=on, field=rng.choice("xy"), other=other)
        elif what == "append":
            do(what, on=on, field=rng.choice("ls"), other=other)
        elif what == "put":
            do(what, on=on, field=rng.choice("md"), key=rng.choice("pq"), other=other)
        elif what == "attach":
            do(what, on=on, field=rng.choice("ef"), other=other)
        elif what == "write":
            do(what, on=on, field=rng.choice("abgh"), value=value(), how=rng.choice(["directly", "step"]))
        elif what == "train":
            do(what, on=on)
        elif what == "share":
            do(what, on=on, field=rng.choice("ab"), other=rng.randrange(objects), key=rng.choice("abgh"))
        elif what == "drop":
            do(what, on=on, field=rng.choice("abxy"))
        elif what == "assert":
            do(what, how=rng.choice(["consumed", "existing"]))
        elif what == "again":  # the program starts anew, and goes on from a file
            do("open", on=new(), how="root")
            checkpoints += 1
            restore(checkpoints - 1, ["strict", "both"])
        elif what == "open" or not checkpoints:
            do("open", on=on, how=rng.choice(["root", "edge", "path"]))
            checkpoints += 1
        elif what == "manage":
            do(what, ck=rng.randrange(checkpoints), file=rng.randrange(2))
            managed.append((steps[-1]["ck"], steps[-1]["file"]))
        elif what == "latest":
            if managed:
                other, file = rng.choice(managed)
                do(what, ck=rng.randrange(checkpoints), other=other, file=file, how=rng.choice(["strict", "both", "both"]))
        elif what == "save":
            do(what, ck=rng.randrange(checkpoints), file=files)
            files += 1
        elif what == "restore":
            restore(rng.randrange(checkpoints), ["strict", "both", "both", "partial", "missing"])
    for on in range(min(objects, 6)):
        do("train", on=on)
    do("end")
    return steps


def generate_slots(seed):
    """A program of an optimizer's slots: restores that overlap, and objects that come in every order."""
    rng = random.Random(100000 + seed)
    steps, objects, files, values = [], 0, 0, 0

    def do(what, **args):
        steps.append(dict(do=what, **args))

    def start():
        nonlocal objects
        do("object", on=objects)
        do("open", on=objects, how="root")
        objects += 1

    def restore():
        if files:
            do("restore", ck=objects - 1, file=rng.randrange(files), how="both")

    def save():
        nonlocal files
        do("save", ck=objects - 1, file=files)
        files += 1

    start()
    todo = ["make", "optimizer", "slot", "save", "slot", "save", "again"] if rng.random() < 0.7 else []
    for _ in range(rng.randint(8, 24)):
        what = todo.pop(0) if todo else rng.choices(list(SLOT_STEPS), SLOT_STEPS.values())[0]
        values += 1
        if what == "again":
            start()
            for _ in range(rng.randint(1, 3)):
                restore()
        elif what == "save":
            save()
        elif what == "restore":
            restore()
        elif what == "optimizer":
            do(what, on=objects - 1)
        else:
            do(what, on=objects - 1, field=rng.choice("ab" if what == "variable" else "gh"), value=10.0 * values, how="directly")
    for field in "gh":
        do("make", on=objects - 1, field=field, value=1.0)
    do("optimizer", on=objects - 1)
    do("end")
    return steps


def programs():
    """All programs, in the order in which check has them."""
    return [generate(seed) for seed in range(PROGRAMS)] + [generate_slots(seed) for seed in range(SLOT_PROGRAMS)]


def below(root, tf):
    """The float variables below an object, each once."""
    seen, todo = [], [root]
    while todo:
        x = todo.pop()
        if any(x is s for s in seen):
            continue
        seen.append(x)
        if not isinstance(x, tf.Variable):
            todo.extend(x._trackable_children().values())
    return [x for x in seen if isinstance(x, tf.Variable) and x.dtype == tf.float32]


class Program:
    """A program in TensorFlow. Dropped objects stay alive: its assertions check them too, or Python's collector would decide."""

    def __init__(self, folder):
        self.folder, self.objects, self.checkpoints, self.status, self.kept = folder, {}, [], None, []
        self.managers, self.slots = {}, {}

    def path(self, file):
        return os.path.join(self.folder, str(file))

    def step(self, s):
        import tensorflow as tf
        from tensorflow.python.trackable import autotrackable

        class Object(autotrackable.AutoTrackable):
            """Has its children in the order of the fields of ours: an object that is two nodes of a file gets the first one's value."""

            def _trackable_children(self, *args, **kwargs):
                children = super()._trackable_children(*args, **kwargs)
                fields = "abxylsmd"
                return dict(sorted(children.items(), key=lambda c: fields.find(c[0]) if c[0] in fields else len(fields)))

        def variable():
            v = tf.Variable([s["value"], s["value"] + 1], dtype=tf.float32)
            self.kept.append(v)
            return v

        class Optimizer(autotrackable.AutoTrackable):
            """Has the slots that TensorFlow's optimizers have, by the same hooks."""

            def get_slot_names(self):
                return ["m"]

            def get_slot(self, var, name):
                return made[id(self), id(var)]

            def _create_or_restore_slot_variable(self, slot_variable_position, slot_name, variable):
                from tensorflow.python.trackable import base
                slot = made.get((id(self), id(variable)))
                if slot is None:
                    value = base.CheckpointInitialValueCallable(checkpoint_position=slot_variable_position)
                    slot = made[id(self), id(variable)] = tf.Variable(value, shape=[2], dtype=tf.float32)
                slot_variable_position.restore(slot)
                return slot

        made = self.slots
        what, on = s["do"], self.objects.get(s.get("on"))
        field, other = s.get("field"), self.objects.get(s.get("other"))
        if what == "object":
            self.objects[s["on"]] = Object()
        elif what == "variable" or what == "make" and not hasattr(on, field):
            setattr(on, field, variable())
        elif what in ("field", "attach"):
            setattr(on, field, other)
        elif what == "append":
            if not hasattr(on, field):
                setattr(on, field, [])
            getattr(on, field).append(other)
        elif what == "put":
            if not hasattr(on, field):
                setattr(on, field, {})
            getattr(on, field)[s["key"]] = other
        elif what == "write" and hasattr(on, field):
            getattr(on, field).assign([s["value"], s["value"] + 1])
        elif what == "share" and hasattr(other, s["key"]):
            setattr(on, field, getattr(other, s["key"]))
        elif what == "optimizer" and not hasattr(on, "o"):
            on.o = Optimizer()
            self.kept.append(on.o)
        elif what == "slot" and hasattr(on, "o") and hasattr(on, field):
            key = id(on.o), id(getattr(on, field))
            if key in made:
                made[key].assign([s["value"], s["value"] + 1])
            else:
                made[key] = variable()
        elif what == "train":
            for v in below(on, tf):
                v.assign_add([1, 2])
        elif what == "drop" and hasattr(on, field):
            delattr(on, field)
        elif what == "open":
            self.checkpoints.append(tf.train.Checkpoint(on) if s["how"] == "root" else tf.train.Checkpoint(
                n=on if s["how"] == "edge" else tf.train.Checkpoint(x=on)))
        elif what == "save":
            self.checkpoints[s["ck"]].write(self.path(s["file"]))
        elif what == "restore":
            self.status = self.checkpoints[s["ck"]].read(self.path(s["file"]))
            if s["how"] != "strict":
                self.status.expect_partial()
        elif what == "manage":
            key = "m%d-%d" % (s["ck"], s["file"])
            if key not in self.managers:
                self.managers[key] = tf.train.CheckpointManager(self.checkpoints[s["ck"]], self.path(key), max_to_keep=2)
            self.managers[key].save()
        elif what == "latest":
            self.status = self.checkpoints[s["ck"]].restore(tf.train.latest_checkpoint(self.path("m%d-%d" % (s["other"], s["file"]))))
            if s["how"] != "strict":
                self.status.expect_partial()
        elif what == "assert" and self.status is not None:
            try:
                if s["how"] == "consumed":
                    self.status.assert_consumed()
                else:
                    self.status.assert_existing_objects_matched()
            except AssertionError as e:
                return str(e)
        elif what == "end":
            tf.train.Checkpoint(**{"n%d" % i: o for i, o in self.objects.items()}).write(self.path("end"))


def write(steps, folder):
    """Runs a program, and records the messages of its assertions: null for those that held."""
    program = Program(folder)
    said = [program.step(s) for s in steps]
    with open(os.path.join(folder, "said.json"), "w") as f:
        json.dump(said, f)


def values(prefix):
    """The variables of a checkpoint by every path that leads to them."""
    import tensorflow as tf
    from tensorflow.core.protobuf import trackable_object_graph_pb2
    reader = tf.train.load_checkpoint(prefix)
    graph = trackable_object_graph_pb2.TrackableObjectGraph.FromString(reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"))
    found = {}

    def walk(node, path, above):
        for a in graph.nodes[node].attributes:
            found["/".join(path)] = reader.get_tensor(a.checkpoint_key).tolist()
        for slot in graph.nodes[node].slot_variables:
            of = graph.nodes[slot.original_variable_node_id].attributes[0].checkpoint_key
            key = graph.nodes[slot.slot_variable_node_id].attributes[0].checkpoint_key
            found["/".join((*path, "slot", slot.slot_name, of))] = reader.get_tensor(key).tolist()
        for c in graph.nodes[node].children:
            if c.node_id not in above and len(path) < 8 and c.local_name != "save_counter":
                walk(c.node_id, (*path, c.local_name), {*above, c.node_id})

    walk(0, (), {0})
    return found


def managed(folder):
    """The managers' files: their checkpoints in order, the latest, and the values."""
    import tensorflow as tf
    found = {}
    for state in sorted(glob.glob(os.path.join(glob.escape(folder), "m*-*"))):
        text = tf.train.get_checkpoint_state(state)
        names = [os.path.basename(p) for p in text.all_model_checkpoint_paths]
        found[os.path.basename(state)] = dict(
            names=names, latest=os.path.basename(text.model_checkpoint_path),
            files=sorted(os.path.basename(p) for p in glob.glob(os.path.join(glob.escape(state), "*.index"))),
            values=[values(os.path.join(state, n)) for n in names])
    return found


def only_counter(said):
    """Whether an assertion is about nothing but save_counter, which ours don't count among the objects."""
    return said.startswith("Unresolved object in checkpoint (root).save_counter:") or (
        "Showing 1 of 1 unmatched objects: [<tf.Variable 'save_counter:0'" in said)


def check(programs, theirs, ours):
    """The differences, and how many programs ours ran to their ends."""
    wrong, whole = [], 0
    with open(os.path.join(ours, "said.json")) as f:
        all_said = json.load(f)
    for i, (steps, said) in enumerate(zip(programs, all_said)):
        with open(os.path.join(theirs, str(i), "said.json")) as f:
            expected = json.load(f)
        whole += len(said) == len(steps)
        if len(said) == len(steps) and said[-1] is None:
            a, b = managed(os.path.join(ours, str(i))), managed(os.path.join(theirs, str(i)))
            for name in sorted({*a, *b}):
                if a.get(name) != b.get(name):
                    wrong.append("program %d: %s holds %s, TensorFlow's holds %s" % (i, name, a.get(name), b.get(name)))
        for k, (s, got) in enumerate(zip(steps, said)):
            if s["do"] == "assert":
                if (got is None) != (expected[k] is None) and not (got is None and only_counter(expected[k])):
                    wrong.append("program %d, step %d, %s: %s, TensorFlow says %s" % (i, k, s, got, expected[k]))
            elif got is not None:
                continue  # refused: the last step
            elif s["do"] in ("save", "end"):
                file = str(s.get("file", "end"))
                a, b = values(os.path.join(ours, str(i), file)), values(os.path.join(theirs, str(i), file))
                for path in sorted({*a, *b}):
                    if a.get(path) != b.get(path):
                        wrong.append("program %d, step %d: %s is %s, TensorFlow's is %s" % (i, k, path, a.get(path), b.get(path)))
    return wrong, whole
