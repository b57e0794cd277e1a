// Package checkpoint saves and restores the object graph of a Go program in TensorFlow's
// checkpoints: the same files, in both directions.
//
// A [Checkpoint] is made of a root, usually a struct with the parts of a training run. Package
// trackable defines which objects are tracked.
//
//	type Training struct {
//		Step *trackable.Scalar[int32]
//		Net  *Net
//	}
//
//	ck, err := checkpoint.New(&Training{…}, nil)
//	path, err := ck.Save(ctx, "run/ckpt")      // run/ckpt-1.index, run/ckpt-1.data-00000-of-00001
//	report, err := ck.Restore(ctx, path, nil)  // strict: everything must fit
//
// [Manager] keeps a run's checkpoints: numbers, rotation, the latest one, saving in the
// background. [View], [List] and [Load] read checkpoints without any objects, [View.Diff]
// compares one with a program's.
//
// # Contents of a checkpoint
//
// A checkpoint is a bundle (package bundle) whose tensors are named by paths:
//
//	net/l1/kernel/.ATTRIBUTES/VARIABLE_VALUE
//	net/l1/kernel/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE
//
// The path is the first one on which a breadth-first walk from the root meets the object, edge
// names escaped by trackable.Escape. The data file contains the tensors in the order of the walk,
// then optimizers' slots, and last the scalar string _CHECKPOINTABLE_OBJECT_GRAPH. This message
// lists for every object its edges, the keys of its attributes, its slots, its registered saver,
// and whether there are values on or below it. A restore matches objects by that message, not by
// the keys: an object gets the values of the node at the same place in the graph.
//
// The same state produces the same bytes. They are TensorFlow's if the names are: attributes
// carry the variables' full names, see trackable.Scoped.
//
// # Restores
//
// A restore has two halves. The first matches the message with the live objects, using only the
// index, and sorts every value into one of these classes:
//
//   - restored: an object of the right type and shape is there;
//   - deferred: there is none yet, but a live object may still get one;
//   - missing: an object is there, the checkpoint has no value for it: an error,
//     unless RestoreOptions.AllowMissing;
//   - mismatched: type or shape differ: always an error;
//   - unused: no object can take the value: an error, unless
//     RestoreOptions.Partial.
//
// An error means that nothing was changed. The second half reads the values in parallel, straight
// into the variables' storage, and verifies checksums. Only a failure there can leave a restore
// half done: a damaged file, a registered saver or a serializer that fails, the end of the
// context. The error says so, and saves are refused (*[InterruptedRestoreError]), those of other
// Checkpoints of the same objects too, until another restore succeeds.
//
// A deferred value is delivered when its object appears: at once if the object is added through a
// Node, at the next step or save if it is assigned to a field, a slice or a map. No delivery
// overwrites a variable that was written since it was made (*[WrittenError]), and using a
// variable that a strict restore left without a value is an error (*[UnfilledError]). If values
// are still pending, the next save is an error, because it would save fresh weights in their
// place.
//
// # Registered savers
//
// Objects that share state can be saved together by a [Saver]. It gets a map of paths to objects
// and writes separate bundles. They are merged into the checkpoint before all other values. It also
// restores them.
package checkpoint
