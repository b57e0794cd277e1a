// Package checkpoint saves and restores the object graph of a Go program in
// TensorFlow's checkpoints: the same files, in both directions.
//
// A [Checkpoint] is made of a root, usually a struct with what a training run
// consists of. Package trackable says what is tracked.
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
// [Manager] keeps a run's checkpoints: numbers, rotation, the latest one, saving
// in the background. [View], [List] and [Load] read checkpoints without any
// objects, [View.Diff] compares one with a program's.
//
// # What stands in a checkpoint
//
// A checkpoint is a bundle (package bundle) whose tensors are named by paths:
//
//	net/l1/kernel/.ATTRIBUTES/VARIABLE_VALUE
//	net/l1/kernel/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE
//
// The path is the first one on which a breadth-first walk from the root meets the
// object, edge names escaped by trackable.Escape. Tensors lie in the data file in
// the order of the walk, optimizers' slots behind all else, and last the scalar
// string _CHECKPOINTABLE_OBJECT_GRAPH: a message that lists for every object its
// edges, the keys of its attributes, its slots, the registered saver in charge of
// it, and whether there are values on or below it. A restore goes by that message,
// not by the keys: an object gets the values of the node that is at its place.
//
// The same state gives the same bytes, and they are TensorFlow's where the names
// are: attributes carry the variables' full names, see trackable.Scoped.
//
// # Restores
//
// A restore has two halves. The first matches the message with the live objects,
// by the index alone, and sorts every value into one of these classes:
//
//   - restored: an object of the right type and shape is there;
//   - deferred: there is none yet, but a live object may still get one;
//   - missing: an object is there, the checkpoint has no value for it: an error,
//     unless RestoreOptions.AllowMissing;
//   - mismatched: type or shape differ: always an error;
//   - unused: no object can take the value: an error, unless
//     RestoreOptions.Partial.
//
// An error means that nothing was changed. The second half reads the values in
// parallel, straight into the variables' storage, and verifies checksums. Only a
// failure there can leave a restore half done: a damaged file, a registered saver
// or a serializer that fails, the end of the context. The error says so, and saves
// are refused (*[InterruptedRestoreError]), those of other Checkpoints of the same
// objects too, until another restore goes through.
//
// What is deferred is delivered when its object appears: at once where its Node is
// asked about it, at the next step or save where it is assigned to a field, a slice or
// a map. No delivery overwrites a variable that was written since it was made
// (*[WrittenError]), and a variable that a strict restore left without a value is
// not used (*[UnfilledError]). Values still pending make the next save an error,
// since it would put fresh weights in their place.
//
// # Registered savers
//
// Objects that share state can be saved together by a [Saver]. It gets a map of
// paths to objects, writes bundles of its own, which are merged into the
// checkpoint in front of all other values, and restores them by itself.
package checkpoint
