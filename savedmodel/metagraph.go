package savedmodel

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/internal/pb"
)

// MetaGraph is a graph with all that belongs to it.
type MetaGraph struct {
	// Tags distinguish the MetaGraph from the others of its file: "serve",
	// "train".
	Tags []string
	// TensorFlowVersion and TensorFlowGitVersion are those of the writer.
	TensorFlowVersion, TensorFlowGitVersion string
	// Signatures are sorted by name. TensorFlow's own, whose names begin with
	// "__saved_model", aren't among them.
	Signatures []*SignatureDef
	// Objects are the objects of TensorFlow 2: Objects[i] has the number i, and 0 is
	// the root. A model of TensorFlow 1 has none.
	Objects []*Object
	// Assets are the files that the graph's ops read.
	Assets []Asset
	// Ops are definitions that the file carries of ops that TensorFlow 2.21
	// doesn't have.
	Ops []*graph.OpDef
	// Aliases maps the name of a function in the library to the name that its user
	// gave it.
	Aliases map[string]string

	model     *SavedModel
	proto     *pb.MetaGraphDef // without the parts that are read from the file when they are needed:
	graphDef  pb.Source
	objectDef pb.Source                    // the SavedObjectGraph
	internal  []*SignatureDef              // "__saved_model_init_op" and similar ones
	concretes map[string]*ConcreteFunction // traces by their names in the library
	later     []*graph.OpDef               // definitions of TensorFlow's ops with attributes that 2.21 lacks
	constants int64                        // the rest of maxConstants

	once  sync.Once // decodes the graph for Graph
	graph *graph.Graph
	err   error
}

// Asset is a file that a graph's ops read.
type Asset struct {
	// Name is the file's name below [AssetsDir].
	Name string
	// Tensor is the graph's tensor that takes the file's path, "Const:0".
	Tensor string
}

// Path returns the file's path in the model's directory, "assets/words.txt".
func (a *Asset) Path() string { return AssetsDir + "/" + a.Name }

// Numbers of the fields of a MetaGraphDef.
const (
	fieldGraphDef  = 2
	fieldObjectDef = 7
)

// newMetaGraph reads a MetaGraphDef without its graph, of which it stores only the place. [Read]
// returns its errors.
func newMetaGraph(m *SavedModel, from pb.Source) (*MetaGraph, error) {
	g := &MetaGraph{model: m, proto: new(pb.MetaGraphDef), constants: maxConstants}
	parts := map[protowire.Number][]pb.Source{}
	rest, err := from.Split(func(p *pb.Parts) error {
		parts[p.Number] = append(parts[p.Number], p.Part)
		return nil
	}, fieldGraphDef, fieldObjectDef)
	if err != nil {
		return nil, err
	}
	if g.graphDef, err = pb.Join(parts[fieldGraphDef]); err != nil {
		return nil, err
	}
	if g.objectDef, err = pb.Join(parts[fieldObjectDef]); err != nil {
		return nil, err
	}
	b, err := rest.Read()
	if err != nil {
		return nil, err
	}
	if err := m.checkMemory(g.proto, b); err != nil {
		return nil, err
	}
	if err := g.proto.Unmarshal(b); err != nil {
		return nil, err
	}
	if info := g.proto.MetaInfoDef; info != nil {
		g.Tags, g.TensorFlowVersion, g.TensorFlowGitVersion = info.Tags, info.TensorflowVersion, info.TensorflowGitVersion
		for _, e := range info.FunctionAliases {
			if g.Aliases == nil {
				g.Aliases = map[string]string{}
			}
			g.Aliases[e.Key] = e.Value
		}
		if err := g.readOps(info.StrippedOpList); err != nil {
			return nil, err
		}
	}
	if err := g.readAssets(); err != nil {
		return nil, err
	}
	if err := g.readSignatures(); err != nil {
		return nil, err
	}
	return g, g.readObjects()
}

// SavedModel returns the model that the MetaGraph belongs to.
func (g *MetaGraph) SavedModel() *SavedModel { return g.model }

// ConcreteFunction returns a trace by its name in the graph's library; nil if
// the object graph doesn't describe that function.
func (g *MetaGraph) ConcreteFunction(name string) *ConcreteFunction { return g.concretes[name] }

// readOps stores the definitions of ops that aren't TensorFlow's, and of those
// to which a later release has added attributes.
func (g *MetaGraph) readOps(l *pb.OpList) error {
	if l == nil {
		return nil
	}
	for _, p := range l.Op {
		own := graph.LookupOp(p.Name)
		if own != nil && !slices.ContainsFunc(p.Attr, func(a *pb.AttrDef) bool { return own.Attr(a.Name) == nil }) {
			continue
		}
		d, err := graphInternals.OpDefFromProto(p)
		if err != nil {
			return fmt.Errorf("stripped_op_list: %w", err)
		}
		if own != nil {
			g.later = append(g.later, d)
			continue
		}
		g.Ops = append(g.Ops, d)
	}
	return nil
}

// assetsCollection is the collection in which TensorFlow 1 stores the assets.
const assetsCollection = "saved_model_assets"

// readAssets takes the assets from the MetaGraph's own list, and from the
// collection that older files have.
func (g *MetaGraph) readAssets() error {
	for _, a := range g.proto.AssetFileDef {
		if err := g.addAsset(a); err != nil {
			return err
		}
	}
	c, _ := pb.Lookup(g.proto.CollectionDef, assetsCollection)
	if len(g.Assets) > 0 || c == nil || c.AnyList == nil {
		return nil
	}
	for _, v := range c.AnyList.Value {
		var a pb.AssetFileDef
		if err := a.Unmarshal(v.Value); err != nil {
			return fmt.Errorf("collection %q: %w", assetsCollection, err)
		}
		if err := g.addAsset(&a); err != nil {
			return err
		}
	}
	return nil
}

func (g *MetaGraph) addAsset(p *pb.AssetFileDef) error {
	name, err := assetName(p.Filename)
	if err != nil {
		return err
	}
	a := Asset{Name: name}
	if p.TensorInfo != nil {
		a.Tensor = p.TensorInfo.Name
	}
	g.Assets = append(g.Assets, a)
	return nil
}

// assetName refuses names that lead out of the assets' directory.
func assetName(name string) (string, error) {
	if name == "" || strings.HasPrefix(name, "/") || strings.ContainsAny(name, "\\\x00") || slices.Contains(strings.Split(name, "/"), "..") {
		return "", fmt.Errorf("the asset %q has a name that leads out of its directory", name)
	}
	return name, nil
}

// Graph returns the MetaGraph's graph with its function library. It is made
// once and must not be changed, since all callers share it.
func (g *MetaGraph) Graph() (*graph.Graph, error) {
	g.once.Do(func() {
		g.graph, g.err = g.decodeGraph(nil, nil)
	})
	return g.graph, g.err
}

// decodeGraph decodes the graph from its message. only and from select functions of the library, as
// in [graph.Options]; nil means all. For ops that nothing defines it guesses definitions from their nodes
// (undefinedops.go), because reading functions needs the names of outputs. Nodes of such ops have no Def.
func (g *MetaGraph) decodeGraph(only, from []string) (*graph.Graph, error) {
	o := graph.Options{Ops: slices.Concat(g.Ops, g.later), Only: only, From: from, MaxMemory: g.model.limit(g.graphDef.Len())}
	gr, err := graphInternals.Read(g.graphDef, &o, nil)
	if errors.Is(err, graph.ErrUnknownOp) {
		var guessed []*graph.OpDef
		if guessed, err = g.undefinedOps(); err == nil {
			gr, err = graphInternals.Read(g.graphDef, &o, guessed)
		}
	}
	if changed := g.model.held.unchanged(); changed != nil {
		return nil, changed
	}
	var much *graph.MemoryError
	if errors.As(err, &much) {
		return nil, &LimitError{g.model.File, much.Need, much.Most}
	}
	if err != nil {
		return nil, &FormatError{g.model.File, err}
	}
	g.bindGradients(gr.Library)
	return gr, nil
}

// Signature returns the signature of that name. In a MetaGraph without objects it finds
// TensorFlow's own signatures too, such as "__saved_model_init_op", as
// tf.saved_model.load does.
func (g *MetaGraph) Signature(name string) (*SignatureDef, error) {
	if len(g.Objects) == 0 {
		for _, s := range g.internal {
			if s.Name == name {
				return s, nil
			}
		}
	}
	byName := func(s *SignatureDef, name string) int { return strings.Compare(s.Name, name) }
	if i, ok := slices.BinarySearchFunc(g.Signatures, name, byName); ok {
		return g.Signatures[i], nil
	}
	var names []string
	for _, s := range g.Signatures { // a program may have changed their order
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	e := &NotFoundError{Kind: "signature", Name: name, Near: nearest.Names(name, names, 5)}
	if len(e.Near) == 0 && len(names) <= 20 {
		e.Near = names
	}
	return nil, e
}

// Collection is a named collection of a graph of TensorFlow 1.
type Collection struct {
	Name string
	// Nodes are names of nodes or tensors; nil for a collection of another kind.
	Nodes []string
	// Bytes are encoded messages, such as a VariableDef each.
	Bytes [][]byte
	// Len is the number of elements, of whatever kind.
	Len int
}

// Collections returns the collections in the order of the file.
func (g *MetaGraph) Collections() []Collection {
	var out []Collection
	for _, e := range g.proto.CollectionDef {
		c := Collection{Name: e.Key}
		if v := e.Value; v != nil {
			switch {
			case v.NodeList != nil:
				c.Nodes, c.Len = v.NodeList.Value, len(v.NodeList.Value)
			case v.BytesList != nil:
				c.Bytes, c.Len = v.BytesList.Value, len(v.BytesList.Value)
			case v.AnyList != nil:
				c.Len = len(v.AnyList.Value)
			case v.Int64List != nil:
				c.Len = len(v.Int64List.Value)
			case v.FloatList != nil:
				c.Len = len(v.FloatList.Value)
			}
		}
		out = append(out, c)
	}
	return out
}

// collection returns the names in the collection called name.
func (g *MetaGraph) collection(name string) []string {
	for _, c := range g.Collections() {
		if c.Name == name {
			return c.Nodes
		}
	}
	return nil
}

// OpUse is an op of a graph and how many nodes have it.
type OpUse struct {
	Op string
	// InGraph and InFunctions count the nodes that have the op.
	InGraph, InFunctions int
	// Defined reports whether TensorFlow 2.21, the file, or the graph's library
	// defines the op.
	Defined bool
}

// OpsUsed lists the ops of the graph and of all functions in its library, in the
// order of their names. Calls of functions by their names are left out.
func (g *MetaGraph) OpsUsed() ([]OpUse, error) {
	gr, err := g.Graph()
	if err != nil {
		return nil, err
	}
	byName := map[string]*OpUse{}
	count := func(nodes []*graph.Node, function bool) {
		for _, n := range nodes {
			if n.IsArg() || gr.Library.Lookup(n.Op) != nil {
				continue
			}
			u := byName[n.Op]
			if u == nil {
				u = &OpUse{Op: n.Op, Defined: n.Def != nil}
				byName[n.Op] = u
			}
			if function {
				u.InFunctions++
			} else {
				u.InGraph++
			}
		}
	}
	count(gr.Nodes(), false)
	for _, f := range gr.Library.Functions() {
		count(f.Graph.Nodes(), true)
	}
	out := make([]OpUse, 0, len(byName))
	for _, u := range byName {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b OpUse) int { return strings.Compare(a.Op, b.Op) })
	return out, nil
}
