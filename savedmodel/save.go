package savedmodel

import (
	"context"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// ServeTag is the tag of every MetaGraph that [Save] writes.
const ServeTag = "serve"

// DefaultSignature is the name of the signature that servers call if a request names
// none.
const DefaultSignature = "serving_default"

// SaveOptions changes how a model is saved; nil means the defaults.
type SaveOptions struct {
	// Signatures are the calls that the model offers to servers, by name. The inputs
	// are the function's parameters by name, the outputs the fields of its result;
	// a result that is one tensor is called "output_0", a list "output_0", "output_1"
	// and so on. An empty map means none. Default (nil): those of a root that was
	// loaded; otherwise, as "serving_default", the root's function
	// "_default_save_signature", or the only one with one trace that has an input
	// signature or no arguments.
	Signatures map[string]*graph.Concrete
	// SignatureDefaults are the values of inputs that a request may leave out, by
	// signature and input. Default: none.
	SignatureDefaults map[string]map[string]*tensor.Tensor
	// Tags are tags of the MetaGraph besides [ServeTag]. TensorFlow's loaders that ask
	// for "serve" alone don't find a model with more tags. Default: none.
	Tags []string
	// Aliases are names for functions of the model, each by the name that programs look for. A function of several traces
	// passes the alias to each. Default: none.
	Aliases map[string]FunctionNode
	// Savers are the registered savers. Default: checkpoint.DefaultSavers.
	Savers *checkpoint.Savers
	// OmitSaver leaves out the ops that save and restore the variables. A loader of
	// TensorFlow 1 and a server leave the variables uninitialized then. Default: false.
	OmitSaver bool
	// Devices keeps the devices that variables ask for. Default: false, any device.
	Devices bool
	// StripDebugOps replaces ops that check and print (Assert, PrintV2, CheckNumerics,
	// Print) by ops without effect. Default: false.
	StripDebugOps bool
	// Namespaces are the namespaces of ops that the model may use besides TensorFlow's,
	// the part of an op's name before ">". Default: none, and such an op is an error.
	Namespaces []string
	// Shards splits the values over several data files. Default: one file.
	Shards checkpoint.ShardPolicy
	// Writer controls how the values are written. Default: bundle's defaults.
	Writer *bundle.WriterOptions
	// CheckpointEdges are further edges of the root that only the checkpoint in variables/
	// has: values for programs that restore them by name, such as an optimizer's. Default:
	// none.
	CheckpointEdges []trackable.Edge
	// Files returns more files of the directory, by their paths, such as a framework's own descriptions of its objects.
	// nodes are the saved objects in the file's order. Default: none.
	Files func(nodes []SavedNode) (map[string][]byte, error)
	// Progress is called while values are written, with bytes done and bytes in all.
	// Calls don't overlap. Default: nothing is called.
	Progress func(done, total int64)
	// Log is called for each object and file that is saved, and for each function that
	// could not be, before the files are written. Default: nothing is called.
	Log func(Saved)

	chunks *chunkLimits // nil: those of the format
}

// SavedNode is an object of the graph that is being saved.
type SavedNode struct {
	// Object is the program's object.
	Object trackable.Trackable
	// ID is its number in the file's object graph.
	ID int
	// Path are the edges of the shortest way from the root, joined by dots; "" for the
	// root and for an object to which no edge leads.
	Path string
}

// savedNodes lists the nodes with their paths, for SaveOptions.Files. The paths are found breadth first.
func (s *saver) savedNodes() []SavedNode {
	list := make([]SavedNode, len(s.nodes))
	seen := make([]bool, len(s.nodes))
	queue := []int{0}
	seen[0] = true
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		for _, e := range s.nodes[id].Edges {
			if seen[e.ID] {
				continue
			}
			seen[e.ID] = true
			list[e.ID].Path = e.Name
			if id != 0 {
				list[e.ID].Path = list[id].Path + "." + e.Name
			}
			queue = append(queue, e.ID)
		}
	}
	for id := range list {
		list[id].Object, list[id].ID = s.nodes[id].Object, id
	}
	return list
}

// Saved is a line of a save's log.
type Saved struct {
	// Path leads from the root to the object, edges joined by dots; "(root)" for the
	// root.
	Path string
	// Kind is the object's kind.
	Kind Kind
	// Name is the name of the variable, of the function in the graph's library, or of
	// the asset's file; "" for others.
	Name string
	// Bytes is the size of the object's values, of the function's encoded body, or of
	// the asset's file.
	Bytes int64
	// Note explains an unusual case: why the object is saved though no edge of the program leads to it, or why it is not. ""
	// for most.
	Note string
}

// Save writes root, and all that it reaches, as a SavedModel in the directory dir: tf.saved_model.save. TensorFlow, its
// servers and [Read] load it.
//
// The object graph is that of a checkpoint ([trackable.Children]), and functions: fields that hold a function.Func or a
// *function.Concrete. Root must also reach the captures of functions; constants and the variables of the saved graph are
// written once. A function that was never traced is left out, and the log reports it.
//
// A graph of 2 GiB or more is written in chunks ([ChunkedGraphFile]), which Cairn reads; public builds of TensorFlow 2.21
// don't. The same model results in the same bytes. A directory that contains a SavedModel is replaced as a whole: readers
// find the old model or the new one, and an error or a crash leaves the old one. A directory that contains other files is an
// error.
//
// Save runs between training steps. For objects that can't be saved, the error is a *[SaveError] or an
// *[UntrackedCaptureError]. Other errors are those of files.
func Save(ctx context.Context, root trackable.Trackable, dir string, opts *SaveOptions) error {
	return new(Serializer).Save(ctx, root, dir, opts)
}

// SaveFS saves like [Save], for the directory called name of dir.
func SaveFS(ctx context.Context, root trackable.Trackable, dir vfs.Dir, name string, opts *SaveOptions) error {
	return new(Serializer).SaveFS(ctx, root, dir, name, opts)
}
