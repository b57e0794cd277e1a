package inspect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/savedmodel"
)

// The kinds of differences that only SavedModels have. They are in the JSON of diff, so they must stay.
const (
	MetaGraphs = "metagraph"
	Signatures = "signature"
	Functions  = "function"
	Assets     = "asset"
)

// model is a SavedModel that is compared.
type model struct {
	*savedmodel.SavedModel
	dir fs.FS
}

func readModel(ctx context.Context, dir fs.FS, opts *savedmodel.ReadOptions) (*model, error) {
	m, err := savedmodel.Read(ctx, dir, opts)
	if err != nil {
		return nil, err
	}
	return &model{m, dir}, nil
}

// modelDiff compares two SavedModels without their variables' values. Contents are in the texts of
// differences as the first digits of a digest, "content 0123456789ab". The text of a signature has
// them only if both interfaces are equal in words.
type modelDiff struct {
	ctx  context.Context
	out  []Difference // at most maxObjects
	more int          // further differences
}

// diffModels returns the differences of two SavedModels and the parts that
// weren't compared.
func diffModels(ctx context.Context, a, b *model) (out []Difference, skipped []string, err error) {
	d := &modelDiff{ctx: ctx}
	others := slices.Clone(b.MetaGraphs)
	for _, g := range a.MetaGraphs {
		i := slices.IndexFunc(others, func(o *savedmodel.MetaGraph) bool { return tags(o) == tags(g) })
		if i < 0 {
			d.note(Difference{Kind: MetaGraphs, Name: tags(g), A: "MetaGraph"})
			continue
		}
		if err := d.metaGraphs(g, others[i]); err != nil {
			return nil, nil, err
		}
		others = slices.Delete(others, i, i+1)
	}
	for _, g := range others {
		d.note(Difference{Kind: MetaGraphs, Name: tags(g), B: "MetaGraph"})
	}
	if err := d.assets(a, b); err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(d.out, func(x, y Difference) int { return strings.Compare(x.Name, y.Name) })
	if d.more > 0 {
		d.out = append(d.out, Difference{Kind: Objects, Name: "…", A: fmt.Sprintf("%d more differences", d.more)})
	}
	skipped, err = notCompared(a.dir, b.dir)
	return d.out, skipped, err
}

func (d *modelDiff) note(x Difference) {
	if len(d.out) >= maxObjects {
		d.more++
		return
	}
	d.out = append(d.out, x)
}

// tags returns the name of a MetaGraph in differences: its tags in order. MetaGraphs of the two
// models with equal tags are compared.
func tags(g *savedmodel.MetaGraph) string {
	list := slices.Sorted(slices.Values(g.Tags))
	return strings.Join(list, ",")
}

// modelSide is one of two MetaGraphs.
type modelSide struct {
	g        *savedmodel.MetaGraph
	graph    *graph.Graph
	contents contents
	paths    map[int]string
	keras    map[*savedmodel.Object]string // the metadata that Keras 2 wrote for an object
}

func newModelSide(g *savedmodel.MetaGraph) (*modelSide, error) {
	gr, err := g.Graph()
	if err != nil {
		return nil, err
	}
	s := &modelSide{g: g, graph: gr, paths: g.Paths(), keras: map[*savedmodel.Object]string{}}
	list, err := g.Keras()
	if err != nil {
		return nil, err
	}
	for _, k := range list {
		s.keras[k.Object] = k.Metadata
	}
	return s, nil
}

// metaGraphs compares two MetaGraphs with equal tags.
func (d *modelDiff) metaGraphs(g, h *savedmodel.MetaGraph) error {
	a, err := newModelSide(g)
	if err != nil {
		return err
	}
	b, err := newModelSide(h)
	if err != nil {
		return err
	}
	d.signatures(a, b)
	if len(g.Objects) == 0 && len(h.Objects) == 0 { // of TensorFlow 1: the graph is all there is
		if x, y := a.wholeGraph(), b.wholeGraph(); x != y {
			d.note(Difference{Kind: Functions, Name: "(graph)", A: "content " + x[:12], B: "content " + y[:12]})
		}
		return d.ctx.Err()
	}
	return d.objects(a, b)
}

// signatures compares the signatures by name: their interfaces and their content.
func (d *modelDiff) signatures(a, b *modelSide) {
	by := map[string]*savedmodel.SignatureDef{}
	for _, s := range b.g.Signatures {
		by[s.Name] = s
	}
	for _, s := range a.g.Signatures {
		o := by[s.Name]
		delete(by, s.Name)
		if o == nil {
			d.note(Difference{Kind: Signatures, Name: s.Name, A: signatureWords(s)})
			continue
		}
		x, y := signatureWords(s), signatureWords(o)
		if x == y {
			x, y = a.signatureContent(s), b.signatureContent(o)
		}
		if x != y {
			d.note(Difference{Kind: Signatures, Name: s.Name, A: x, B: y})
		}
	}
	for _, s := range b.g.Signatures {
		if by[s.Name] != nil {
			d.note(Difference{Kind: Signatures, Name: s.Name, B: signatureWords(s)})
		}
	}
}

// signatureWords describes the interface of a signature.
func signatureWords(s *savedmodel.SignatureDef) string {
	words := func(list []savedmodel.TensorInfo) string {
		var out []string
		for _, t := range list {
			w := fmt.Sprintf("%s: %v %v", t.Name, t.DType, t.Shape)
			if t.Default != nil {
				w += " = " + strings.Join(strings.Fields(t.Default.String()), " ")
			}
			out = append(out, w)
		}
		return "(" + strings.Join(out, ", ") + ")"
	}
	w := words(s.Inputs) + " -> " + words(s.Outputs)
	if s.Method != "" && s.Method != "tensorflow/serving/predict" {
		w += " " + s.Method
	}
	return w
}

// signatureContent returns the digest of a signature's content, in words. A signature whose tensors
// the graph lacks has the error's text instead, so that two models with the same fault are equal.
func (s *modelSide) signatureContent(sig *savedmodel.SignatureDef) string {
	find := func(list []savedmodel.TensorInfo) (out []graph.Output, err error) {
		for _, t := range list {
			parts := t.Parts
			if parts == nil {
				parts = []savedmodel.TensorInfo{t}
			}
			for _, p := range parts {
				o, err := s.graph.Find(p.Tensor)
				if err != nil {
					return nil, err
				}
				out = append(out, o)
			}
		}
		return out, nil
	}
	feeds, err := find(sig.Inputs)
	if err != nil {
		return err.Error()
	}
	fetches, err := find(sig.Outputs)
	if err != nil {
		return err.Error()
	}
	f, err := graph.Prune(s.graph, feeds, fetches, nil)
	if err != nil {
		return "content " + s.wholeGraph()[:12] // a loop of TensorFlow 1
	}
	for i := range f.Results {
		f.Results[i].Name = fmt.Sprint(i)
	}
	return "content " + s.contents.function(f)[:12]
}

// wholeGraph returns the digest of all nodes.
func (s *modelSide) wholeGraph() string {
	f := &graph.Function{Name: "graph", Graph: s.graph}
	for _, n := range s.graph.Nodes() {
		f.Control = append(f.Control, graph.ControlResult{Name: n.Name, Node: n})
	}
	return s.contents.function(f)
}

// objects compares the object graphs, from the roots on, by the first paths. Two objects at one path
// are twins; a later edge to one of them must lead to its twin in the other graph.
func (d *modelDiff) objects(a, b *modelSide) error {
	if len(a.g.Objects) == 0 || len(b.g.Objects) == 0 {
		d.note(Difference{Kind: Objects, Name: "(root)", A: counted(len(a.g.Objects)), B: counted(len(b.g.Objects))})
		return nil
	}
	type pair struct{ x, y *savedmodel.Object }
	twin, back := map[*savedmodel.Object]*savedmodel.Object{}, map[*savedmodel.Object]*savedmodel.Object{}
	queue := []pair{{a.g.Objects[0], b.g.Objects[0]}}
	twin[queue[0].x], back[queue[0].y] = queue[0].y, queue[0].x
	d.object(a, b, queue[0].x, queue[0].y)
	for ; len(queue) > 0; queue = queue[1:] {
		if err := d.ctx.Err(); err != nil {
			return err
		}
		p := queue[0]
		edges, others := edgesOf(p.x), map[string]*savedmodel.Object{}
		for _, e := range edgesOf(p.y) {
			others[e.Name] = e.Object
		}
		for _, e := range edges {
			name := join(a.paths[p.x.ID], e.Name)
			o, both := others[e.Name]
			delete(others, e.Name)
			switch {
			case !both:
				d.note(Difference{Kind: Objects, Name: name, A: a.words(e.Object)})
			case twin[e.Object] == nil && back[o] == nil:
				twin[e.Object], back[o] = o, e.Object
				d.object(a, b, e.Object, o)
				queue = append(queue, pair{e.Object, o})
			case twin[e.Object] != o:
				d.note(Difference{Kind: Objects, Name: name, A: "the object " + a.paths[e.Object.ID], B: "the object " + b.paths[o.ID]})
			}
		}
		for _, e := range edgesOf(p.y) {
			if o, left := others[e.Name]; left {
				d.note(Difference{Kind: Objects, Name: join(b.paths[p.y.ID], e.Name), B: b.words(o)})
			}
		}
	}
	return nil
}

func counted(n int) string { return fmt.Sprintf("%d objects", n) }

// edgesOf lists an object's children and, by the variables' names, its slot variables.
func edgesOf(o *savedmodel.Object) []savedmodel.Edge {
	if o.Function != nil || o.Identifier == "signature_map" { // functionWords and signatures compare these
		return nil
	}
	out := slices.Clone(o.Children)
	for i, s := range o.Slots {
		out = append(out, savedmodel.Edge{Name: fmt.Sprintf("(slot %d) %s", i, s.Name), Object: s.Slot})
	}
	return out
}

// object compares two objects at one path.
func (d *modelDiff) object(a, b *modelSide, x, y *savedmodel.Object) {
	name := a.paths[x.ID]
	if name == "" {
		name = "(root)"
	}
	if x.Function != nil && y.Function != nil {
		if f, g := a.functionWords(x.Function), b.functionWords(y.Function); f != g {
			d.note(Difference{Kind: Functions, Name: name, A: f, B: g})
		}
		return
	}
	if f, g := a.words(x), b.words(y); f != g {
		d.note(Difference{Kind: Objects, Name: name, A: f, B: g})
	}
}

// functionWords describes a function: its arguments and results, and the digests of
// its traces.
func (s *modelSide) functionWords(f *savedmodel.FunctionInfo) string {
	var out []string
	if f.Parameters != nil {
		out = append(out, f.Parameters.String())
	}
	for _, c := range f.Concrete {
		w := c.Takes()
		if c.Out != nil {
			w += " -> " + c.Out.String()
		}
		if len(c.Captures) > 0 {
			names := make([]string, len(c.Captures))
			for i, o := range c.Captures {
				if names[i] = s.paths[o.ID]; names[i] == "" {
					names[i] = s.words(o)
				}
			}
			w += " captures " + strings.Join(names, ", ")
		}
		if fn := s.graph.Library.Lookup(c.Name); fn != nil {
			w += " content " + s.contents.function(fn)[:12]
		}
		out = append(out, w)
	}
	return strings.Join(out, "; ")
}

// words describes an object without its children.
func (s *modelSide) words(o *savedmodel.Object) string {
	out := []string{o.Kind.String()}
	add := func(what, value string) {
		if value != "" {
			out = append(out, what+value)
		}
	}
	if v := o.Variable; v != nil {
		add("", fmt.Sprintf("%v %v", v.DType, v.Shape))
		if !v.Trainable {
			add("", "not trainable")
		}
		if v.Synchronization != "AUTO" && v.Synchronization != "NONE" {
			add("synchronization ", v.Synchronization)
		}
	}
	switch o.Kind {
	case savedmodel.ConstantObject:
		if n := s.graph.Lookup(o.Constant); n != nil {
			if t := n.Attrs.Tensor("value"); t != nil {
				w := &contentWriter{h: sha256.New()}
				w.tensor(t)
				add("", fmt.Sprintf("%v %v content %x", t.DType(), t.Shape(), w.h.Sum(nil)[:6]))
			}
		}
	case savedmodel.AssetObject:
		add("", o.Asset.Name)
	case savedmodel.CapturedTensor:
		add("", o.Tensor)
	}
	add("", o.Identifier)
	if o.Identifier != "" && (o.Version > 1 || o.MinConsumer > 1) {
		add("version ", fmt.Sprintf("%d, %d", o.Version, o.MinConsumer))
	}
	metadata := o.Metadata
	if k := s.keras[o]; k != "" {
		metadata = k
	}
	if metadata != "" {
		sum := sha256.Sum256([]byte(metadata))
		add("metadata ", hex.EncodeToString(sum[:6]))
	}
	add("registered as ", o.RegisteredName)
	add("saved by ", o.RegisteredSaver)
	add("message ", o.ProtoType)
	if len(o.Proto) > 0 {
		sum := sha256.Sum256(o.Proto)
		add("", hex.EncodeToString(sum[:6]))
	}
	return strings.Join(out, ", ")
}

// assets compares the assets' files by their names.
func (d *modelDiff) assets(a, b *model) error {
	models := [2]*model{a, b}
	has := map[string][2]bool{} // which of the models have the asset
	for i, m := range models {
		for _, g := range m.MetaGraphs {
			for _, x := range g.Assets {
				of := has[x.Name]
				of[i] = true
				has[x.Name] = of
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		var words [2]string
		for i, m := range models {
			if !has[name][i] {
				continue
			}
			var err error
			if words[i], err = assetWords(d.ctx, m, name); err != nil {
				return err
			}
		}
		if words[0] != words[1] {
			d.note(Difference{Kind: Assets, Name: name, A: words[0], B: words[1]})
		}
	}
	return nil
}

// assetWords describes a model's file of an asset that it has.
func assetWords(ctx context.Context, m *model, name string) (string, error) {
	f, err := m.dir.Open(path.Join(savedmodel.AssetsDir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "missing", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, readerWith{ctx, f})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, content %x", Size(n), h.Sum(nil)[:6]), nil
}

// readerWith is a reader that ends with a context.
type readerWith struct {
	ctx context.Context
	r   io.Reader
}

// Read reads unless the context is done.
func (r readerWith) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// notCompared lists the parts that a comparison leaves out: parts of the graph that
// change no result, and files of the directories.
func notCompared(dirs ...fs.FS) ([]string, error) {
	skipped := []string{"names of nodes and resources", "devices", "lists of ops", "versions of TensorFlow"}
	files := map[string]bool{}
	for _, dir := range dirs {
		err := fs.WalkDir(dir, ".", func(name string, e fs.DirEntry, err error) error {
			switch top, _, _ := strings.Cut(name, "/"); {
			case err != nil:
				return err
			case e.IsDir() && (top == savedmodel.AssetsDir || top == "variables"):
				return fs.SkipDir
			case e.IsDir(), slices.Contains(comparedFiles, name):
			case len(files) < maxSkipped:
				files[name] = true
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for name := range files {
		skipped = append(skipped, name)
	}
	slices.Sort(skipped[4:]) // the files
	return skipped, nil
}

// maxSkipped is the number of files that are listed as not compared; more are left out. It may change.
const maxSkipped = 100

// comparedFiles are the files of a SavedModel whose contents are compared in parts.
var comparedFiles = []string{savedmodel.GraphFile, savedmodel.ChunkedGraphFile, savedmodel.TextGraphFile, savedmodel.KerasMetadataFile, savedmodel.FingerprintFile}
