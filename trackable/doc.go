// Package trackable is the object graph behind checkpoints: named references
// from objects to objects, down to variables.
//
// Any pointer to a struct can be a node. Its exported fields are the edges, if
// they hold something trackable; the edge's name is the field's in snake case,
// or what the tag says:
//
//	type Net struct {
//		trackable.Base           // can be attached to while it runs
//		L1   *Dense              // edge "l1"
//		Head *Dense `cairn:"out"` // edge "out"
//		Memo *Dense `cairn:"-"`   // no edge
//		Tail []*Dense            // edge "tail", its children "0", "1", …
//	}
//
// At the ends stand [Variable]s, tensors that change, and objects that are
// [Serializer]s. [Walk] visits a graph in the order in which TensorFlow numbers
// its nodes; that order, the first path to each object and the escaping of names
// ([Escape]) decide the keys of a checkpoint, so they never change.
//
// Nothing here reads or writes files: that is package checkpoint. What a
// checkpoint holds for an object that doesn't exist yet is pending in the parent's
// [Node]; [Base.AddVariable], [Base.Attach], [List.Append] and [Map.Set] deliver
// it.
//
// # For whom the rest is
//
// Programs that train and save need the types that go into their structs ([Base],
// [List], [Map], [Variable], [Scalar]), and [Walk] where they look at a graph.
// Who writes objects with values of their own needs [Serializer] and
// [RestoreChecker]; who writes layers [Declarer], [Scoped], [Parent],
// [ChildAccepter], [FieldTracker] and [Untracked]; who writes optimizers [Slots],
// [SlotOwner] and [SlotNamer], and [UpdateAll] for the kernels of their steps.
//
// The following stands here because it reaches into variables and Nodes, which no
// other package may. Package checkpoint needs it to restore: [Pending], [Watcher],
// [Watch], [RestoreAll], [Freeze], [GateOf], [Gate.Watch], [AcceptsChild],
// [MayGrow], [HasPlace], [VariablesMade], [Variable.Lease],
// [Variable.MarkRestored], [Variable.SetFault] and the methods of [Node]; whatever
// runs steps needs [Step] and [Settle]; the engine's caches need [VersionOf] and
// [WeakVersion].
package trackable
