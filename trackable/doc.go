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
package trackable
