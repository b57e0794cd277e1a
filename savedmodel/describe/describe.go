package describe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/savedmodel"
)

// The names of fields in JSON are in docs/json.md and must stay; words inside of values may change,
// together with the goldens of the command.

// Description is a SavedModel in words and numbers.
type Description struct {
	File        string       `json:"file"`
	Fingerprint *Fingerprint `json:"fingerprint,omitempty"`
	MetaGraphs  []*MetaGraph `json:"metagraphs"`
}

// Fingerprint identifies a SavedModel. The hashes are hexadecimal, since JSON's
// numbers don't hold 64 bits.
type Fingerprint struct {
	Checksum    string `json:"checksum"`
	Graph       string `json:"graph"`
	Signatures  string `json:"signatures"`
	Objects     string `json:"objects"`
	Checkpoint  string `json:"checkpoint"`
	UUID        string `json:"uuid,omitempty"`
	RulesNumber int    `json:"version"`
}

// MetaGraph is one of the graphs.
type MetaGraph struct {
	Tags        []string     `json:"tags"`
	TensorFlow  string       `json:"tensorflow"`
	Git         string       `json:"tensorflow_git,omitempty"`
	Producer    int          `json:"graph_version"`
	MinConsumer int          `json:"graph_min_consumer,omitempty"`
	Nodes       int          `json:"graph_nodes"`
	Library     int          `json:"library_functions"`
	Signatures  []Signature  `json:"signatures"`
	Functions   []Function   `json:"functions"`
	Variables   []Variable   `json:"variables"`
	Assets      []Asset      `json:"assets"`
	Collections []Collection `json:"collections,omitempty"`
	Ops         []Op         `json:"ops"`
	Layers      []Layer      `json:"layers,omitempty"`
	// Feeds and Fetches are proposed inputs and outputs of a GraphDef, which
	// has no signatures.
	Feeds   []Tensor `json:"feeds,omitempty"`
	Fetches []Tensor `json:"fetches,omitempty"`

	meta   *savedmodel.MetaGraph
	chosen bool // a signature was chosen, which the text shows alone
}

// Signature is a call that has a name.
type Signature struct {
	Name    string   `json:"name"`
	Method  string   `json:"method,omitempty"`
	Inputs  []Tensor `json:"inputs"`
	Outputs []Tensor `json:"outputs"`
}

// operation is the Type of an output that is an operation, which a call runs.
const operation = "Operation"

// Tensor is an input or output of a signature.
type Tensor struct {
	Name    string   `json:"name"`
	DType   string   `json:"dtype"`
	Shape   Shape    `json:"shape"`
	Tensor  string   `json:"tensor,omitempty"`  // its name in the graph
	Default string   `json:"default,omitempty"` // the value if it isn't fed; "" for none
	Type    string   `json:"type,omitempty"`    // the composite's class, or operation; "" for a plain tensor
	Parts   []Tensor `json:"parts,omitempty"`   // the tensors of a composite
}

// Function is a function of the object graph.
type Function struct {
	Path       string  `json:"path"`
	Parameters string  `json:"parameters,omitempty"`
	Traces     []Trace `json:"traces"`
}

// Trace is one of the graphs that a function has.
type Trace struct {
	Name     string `json:"name"`
	Takes    string `json:"takes,omitempty"`
	Gives    string `json:"gives,omitempty"`
	Captures int    `json:"captures"`
}

// Variable is a variable of the object graph.
type Variable struct {
	Path      string `json:"path"`
	Name      string `json:"name"`
	DType     string `json:"dtype"`
	Shape     Shape  `json:"shape"`
	Trainable bool   `json:"trainable"`
	Key       string `json:"key,omitempty"` // in the checkpoint
	Bytes     int64  `json:"bytes"`
	Value     Scalar `json:"value,omitempty"` // of a scalar
}

// Asset is a file that ops read.
type Asset struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"` // -1 if the file is missing
}

// Collection is a list that a graph of TensorFlow 1 keeps.
type Collection struct {
	Name string `json:"name"`
	Len  int    `json:"len"`
}

// Op is an op that the graph or its functions use.
type Op struct {
	Op        string `json:"op"`
	Graph     int    `json:"graph"`     // nodes of the graph that have it
	Functions int    `json:"functions"` // nodes of functions that have it
	Defined   bool   `json:"defined"`   // TensorFlow or the file defines it
	Kernel    bool   `json:"kernel"`    // loading or a kernel runs it
}

// Describe describes a SavedModel. fsys is its directory, in which the assets are. kernels
// decide which ops have a kernel (Op.Kernel).
func Describe(ctx context.Context, fsys fs.FS, m *savedmodel.SavedModel, kernels *engine.KernelSet) (*Description, error) {
	d := &Description{File: m.File}
	if f := m.Fingerprint; f != nil {
		hex := func(v uint64) string { return fmt.Sprintf("%016x", v) }
		d.Fingerprint = &Fingerprint{hex(f.Checksum), hex(f.GraphHash), hex(f.SignatureHash), hex(f.SavedObjectHash), hex(f.CheckpointHash), f.UUID, f.Producer}
	}
	for _, g := range m.MetaGraphs {
		x, err := describe(ctx, fsys, g, kernels)
		if err != nil {
			return nil, err
		}
		d.MetaGraphs = append(d.MetaGraphs, x)
	}
	return d, nil
}

func describe(ctx context.Context, fsys fs.FS, g *savedmodel.MetaGraph, kernels *engine.KernelSet) (*MetaGraph, error) {
	gr, err := g.Graph()
	if err != nil {
		return nil, err
	}
	x := &MetaGraph{
		Tags: append([]string{}, g.Tags...), TensorFlow: g.TensorFlowVersion, Git: g.TensorFlowGitVersion,
		Producer: int(gr.Versions.Producer), MinConsumer: int(gr.Versions.MinConsumer), Nodes: gr.Len(), Signatures: []Signature{}, meta: g,
	}
	if gr.Library != nil {
		x.Library = len(gr.Library.Functions())
	}
	for _, s := range g.Signatures {
		x.Signatures = append(x.Signatures, Signature{s.Name, s.Method, tensors(s.Inputs), outputs(s.Outputs)})
	}
	if g.SavedModel().IsGraphDef() {
		feeds, fetches, err := g.Endpoints()
		if err != nil {
			return nil, err
		}
		x.Feeds, x.Fetches = tensors(feeds), tensors(fetches)
	}
	paths := g.Paths()
	x.Functions = functions(g, paths)
	stored, err := g.Stored(ctx)
	if err != nil && (ctx.Err() != nil || errors.Is(err, errors.ErrUnsupported)) {
		return nil, err // with any other fault of the checkpoint, the graphs are described without it
	}
	x.Variables = variables(g, paths, stored)
	x.Assets = assets(fsys, g)
	for _, c := range g.Collections() {
		x.Collections = append(x.Collections, Collection{c.Name, c.Len})
	}
	used, err := g.OpsUsed()
	if err != nil {
		return nil, err
	}
	x.Ops = make([]Op, len(used))
	for i, u := range used {
		x.Ops[i] = Op{u.Op, u.InGraph, u.InFunctions, u.Defined, kernels.Lookup(u.Op) != nil || raisedOps[u.Op]}
	}
	x.Layers, err = layers(g, paths)
	return x, err
}

// raisedOps are those that have no kernel because loading makes other ops of them (package graph/raise),
// or because calls feed them.
var raisedOps = map[string]bool{
	"Switch": true, "RefSwitch": true, "Merge": true, "RefMerge": true, "Enter": true, "RefEnter": true, "Exit": true, "RefExit": true,
	"NextIteration": true, "RefNextIteration": true, "LoopCond": true, "ControlTrigger": true,
	"Placeholder": true, "PlaceholderV2": true,
}

// outputs describes the outputs of a signature, of which some may be operations.
func outputs(list []savedmodel.TensorInfo) []Tensor {
	out := tensors(list)
	for i := range list {
		if list[i].IsOp() {
			out[i].Type = operation
		}
	}
	return out
}

func tensors(list []savedmodel.TensorInfo) []Tensor {
	out := []Tensor{}
	for _, t := range list {
		x := Tensor{Name: t.Name, DType: dtypeWords(t.DType), Shape: Shape{t.Shape}, Tensor: t.Tensor}
		if t.Default != nil {
			x.Default = strings.Join(strings.Fields(t.Default.String()), " ")
		}
		if t.Type != nil {
			x.Type = t.Type.Composite.Name()
		}
		if t.Parts != nil {
			if x.Type == "" {
				x.Type = "SparseTensor"
			}
			x.Parts = tensors(t.Parts)
		}
		out = append(out, x)
	}
	return out
}

func functions(g *savedmodel.MetaGraph, paths map[int]string) []Function {
	out := []Function{}
	for _, o := range g.Objects {
		path, reached := paths[o.ID]
		if o.Function == nil || !reached {
			continue
		}
		f := Function{Path: path, Traces: []Trace{}}
		if p := o.Function.Parameters; p != nil {
			f.Parameters = p.String()
		}
		for _, c := range o.Function.Concrete {
			t := Trace{Name: c.Name, Captures: len(c.Captures)}
			if c.In != nil {
				t.Takes = unknowns.Replace(c.Takes())
			}
			if c.Out != nil && c.Out.Kind != graph.UnsetStructure {
				t.Gives = unknowns.Replace(c.Out.String())
			}
			f.Traces = append(f.Traces, t)
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b Function) int {
		if d := strings.Count(a.Path, "/") - strings.Count(b.Path, "/"); d != 0 {
			return d
		}
		return strings.Compare(a.Path, b.Path)
	})
	return out
}

func variables(g *savedmodel.MetaGraph, paths map[int]string, stored map[*savedmodel.Object]bundle.Entry) []Variable {
	out := []Variable{}
	for _, o := range g.Variables() {
		v := Variable{Path: paths[o.ID], Name: o.Variable.Name, DType: dtypeWords(o.Variable.DType), Shape: Shape{o.Variable.Shape}, Trainable: o.Variable.Trainable}
		if e, ok := stored[o]; ok {
			v.Key, v.Bytes = e.Name, e.Size
		}
		out = append(out, v)
	}
	return out
}

func assets(fsys fs.FS, g *savedmodel.MetaGraph) []Asset {
	out := []Asset{}
	for _, a := range g.Assets {
		x := Asset{Name: a.Name, Bytes: -1}
		if info, err := fs.Stat(fsys, savedmodel.AssetsDir+"/"+a.Name); err == nil {
			x.Bytes = info.Size()
		}
		out = append(out, x)
	}
	return out
}

// SetValues sets the values of scalar variables. byKey has them by their keys in the
// checkpoint.
func (d *Description) SetValues(byKey map[string]string) {
	for _, g := range d.MetaGraphs {
		for i := range g.Variables {
			g.Variables[i].Value = Scalar(byKey[g.Variables[i].Key])
		}
	}
}

// Choose removes all MetaGraphs but the one that has these tags or, without tags, the one that
// loading chooses.
func (d *Description) Choose(m *savedmodel.SavedModel, tags []string) error {
	g, err := m.Find(tags...)
	if err != nil {
		return err
	}
	d.MetaGraphs = slices.DeleteFunc(d.MetaGraphs, func(x *MetaGraph) bool { return x.meta != g })
	return nil
}

// ChooseSignature removes all signatures but the one of that name. The text then shows it
// without the rest of the model. It is an error if no MetaGraph has it.
func (d *Description) ChooseSignature(name string) error {
	var last error
	found := false
	for _, g := range d.MetaGraphs {
		g.chosen = true
		if _, err := g.meta.Signature(name); err != nil {
			last = err
			g.Signatures = []Signature{}
			continue
		}
		found = true
		g.Signatures = slices.DeleteFunc(g.Signatures, func(s Signature) bool { return s.Name != name })
	}
	if !found {
		return errors.Join(last)
	}
	return nil
}
