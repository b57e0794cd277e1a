// Package trackable is the object graph of checkpoints: named references from
// objects to objects, down to variables.
//
// Any pointer to a struct can be a node. Its exported fields are the edges, if
// they hold something trackable; the edge's name is the field's in snake case, or
// the tag:
//
//	type Net struct {
//		trackable.Base           // can be attached to while it runs
//		L1   *Dense              // edge "l1"
//		Head *Dense `cairn:"out"` // edge "out"
//		Memo *Dense `cairn:"-"`   // no edge
//		Tail []*Dense            // edge "tail", its children "0", "1", …
//	}
//
// The leaves are [Variable]s, tensors that change, and objects that are
// [Serializer]s. [Walk] visits a graph in the order in which TensorFlow numbers
// its nodes; that order, the first path to each object and the escaping of names
// ([Escape]) decide the keys of a checkpoint, so they never change.
//
// Package checkpoint reads and writes the files. Values of a checkpoint for an
// object that doesn't exist yet are pending in the parent's [Node];
// [Base.AddVariable], [Base.Attach], [List.Append] and [Map.Set] deliver them.
//
// # Users of this package
//
// Programs that train and save need the types that go into their structs ([Base],
// [List], [Map], [Variable], [Scalar]), and [Walk] to inspect a graph. Objects
// with other values than variables implement [Serializer] and [RestoreChecker].
// Layers use [Declarer], [Scoped], [Parent], [ChildAccepter], [FieldTracker] and
// [Untracked]. Optimizers use [Slots], [SlotOwner] and [SlotNamer], and
// [UpdateAll] for the kernels of their steps.
//
// Code that runs steps uses [Step], and code that reads objects between steps uses
// [Freeze]; [Variable.Lease] and [VersionOf] serve caches. The functions that
// package checkpoint restores with access the internals of variables and Nodes.
// [Internal] returns them, to packages of this module alone.
package trackable
