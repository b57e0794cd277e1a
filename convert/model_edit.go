package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// ModelEdits are changes of a SavedModel. Patterns match anywhere in a name: of a
// signature "signatures.NAME", of a function or a variable its path from the root,
// "layers.0.call". Cast and Freeze also match a variable's own name, see
// [trackable.Variable.Name].
//
// Each pattern must match something. Rename gets the names that Keep and Drop leave. An
// entry of Rename or Cast gets those that earlier entries leave.
type ModelEdits struct {
	// Keep drops all signatures and functions but those whose name matches one of the
	// patterns. Default: all stay.
	Keep []*regexp.Regexp
	// Drop drops signatures and functions whose name matches.
	Drop []*regexp.Regexp
	// Rename renames signatures and functions, below the same object. The first entry
	// that matches a name counts.
	Rename []Rename
	// Cast stores variables whose name matches in another type. Functions see the type
	// that they had. The first entry that matches a name counts.
	Cast []Cast
	// Freeze makes variables whose name matches constants, also if Cast matches that name. A
	// function that changes one is an error.
	Freeze []*regexp.Regexp
	// Tags are tags that the MetaGraph gets besides those that it has.
	Tags []string
	// Serving drops what no signature needs: all other functions and objects, and the
	// root's class and metadata.
	Serving bool
}

// IsZero reports whether there are no changes.
func (e ModelEdits) IsZero() bool {
	return len(e.Keep)+len(e.Drop)+len(e.Rename)+len(e.Cast)+len(e.Freeze)+len(e.Tags) == 0 && !e.Serving
}

// IsModel reports whether src is the directory of a SavedModel.
func IsModel(ctx context.Context, src string, o *Options) bool {
	fsys, err := directoryAt(src, o)
	if fsys == nil || err != nil {
		return false
	}
	for _, name := range graphFiles {
		if _, err := fs.Stat(fsys, name); err == nil {
			return true
		}
	}
	return false
}

// EditModel writes the SavedModel in the directory src to the directory dst with changes.
// Unchanged parts are kept, as [Convert] keeps them. Functions are dropped and renamed
// before variables are changed. So variables that only a dropped function used can still be
// cast and frozen. With an empty dst it only returns the changes that would be made. A model
// with several MetaGraphs is an error, and so is one without objects, as of TensorFlow 1.
func EditModel(ctx context.Context, src, dst string, edits ModelEdits, o *Options) ([]Change, *Result, error) {
	if o == nil {
		o = &Options{}
	}
	m, err := modelAt(ctx, src, o)
	if err != nil {
		return nil, nil, err
	}
	if m == nil {
		return nil, nil, fmt.Errorf("convert: edit %s: it isn't the directory of a SavedModel", src)
	}
	if n := len(m.MetaGraphs); n != 1 {
		return nil, nil, fmt.Errorf("convert: edit %s: the model can't be edited (got %d MetaGraphs, want 1)", src, n)
	}
	if len(m.MetaGraphs[0].Objects) == 0 {
		return nil, nil, fmt.Errorf("convert: edit %s: the model has no objects to edit, as one of TensorFlow 1", src)
	}
	e := &modelEdit{ModelEdits: edits, src: src, meta: m.MetaGraphs[0], save: &savedmodel.SaveOptions{}}
	if len(edits.Tags) > 0 {
		e.save.Tags = slices.Clone(e.meta.Tags)
		for _, t := range edits.Tags {
			if t == "" {
				return nil, nil, errors.New("convert: edit: a tag is empty")
			}
			if !slices.Contains(e.save.Tags, t) {
				e.save.Tags = append(e.save.Tags, t)
				e.changes = append(e.changes, Change{Name: "tag " + t, Add: true})
			}
		}
	}
	if dst == "" {
		r, err := e.meta.Restore(ctx, &savedmodel.RestoreOptions{Run: o.Run})
		if err == nil {
			err = e.edit(r)
		}
		return e.changes, &Result{}, err
	}
	res, err := writeModel(ctx, m, src, dst, &savedmodel.RewriteOptions{Edit: e.edit, Save: e.save}, o)
	return e.changes, res, err
}

// modelEdit is an edit that is being done.
type modelEdit struct {
	ModelEdits
	src  string // the model's directory, for errors
	meta *savedmodel.MetaGraph
	save *savedmodel.SaveOptions // the options for writing it

	root    *savedmodel.TrackableObject
	walk    *trackable.Graph        // the objects at the last visit
	used    map[*regexp.Regexp]bool // the patterns that matched a name
	changes []Change
}

// edge is an edge of the model with the object that has it.
type edge struct {
	parent     *savedmodel.TrackableObject
	name, path string
	child      trackable.Trackable
}

const signatures = "signatures"

// edit changes the objects of a restored model. It is the Edit of savedmodel.RewriteOptions.
func (e *modelEdit) edit(r *savedmodel.Restored) error {
	var ok bool
	if e.root, ok = r.Root.(*savedmodel.TrackableObject); !ok {
		return fmt.Errorf("convert: edit: the root is a %T, which has no edges to edit", r.Root)
	}
	e.used = map[*regexp.Regexp]bool{}
	if err := e.visit(); err != nil {
		return err
	}
	before := e.paths()
	if err := e.functions(); err != nil {
		return err
	}
	// Replacements are decided before strip removes edges, and set after it, on the objects that
	// are left.
	instead, err := e.replacements()
	if err != nil {
		return err
	}
	if e.Serving {
		e.strip()
	}
	if err := e.unmatched(e.src, before); err != nil || len(instead) == 0 {
		return err
	}
	if err := e.visit(); err != nil {
		return err
	}
	for _, x := range e.edges() {
		if p := instead[trackableVariable(x.child)]; p != nil {
			x.parent.Set(x.name, p.object)
		}
	}
	return e.rewriteTraces(instead)
}

// visit sets walk to the objects as they are now.
func (e *modelEdit) visit() (err error) {
	e.walk, err = trackable.Walk(e.root, &trackable.WalkOptions{NoSlots: true, Children: savedmodel.Children})
	return err
}

// edges returns the edges of all objects that can be edited.
func (e *modelEdit) edges() []edge {
	var out []edge
	for id := range e.walk.Nodes {
		x := edge{}
		switch p := e.walk.Nodes[id].Object.(type) {
		case *savedmodel.TrackableObject:
			x.parent = p
		case *savedmodel.TrackableOptimizer:
			x.parent = &p.TrackableObject
		default: // such as a resource, whose functions make it: they stay
			continue
		}
		prefix := ""
		if id > 0 {
			prefix = e.walk.Human(id) + "."
		}
		for _, c := range x.parent.Edges() {
			x.name, x.path, x.child = c.Name, prefix+c.Name, c.Child
			out = append(out, x)
		}
	}
	return out
}

// paths returns all names that patterns may match.
func (e *modelEdit) paths() []string {
	var out []string
	for _, x := range e.edges() {
		if isFunction(x.child) || trackableVariable(x.child) != nil {
			out = append(out, x.path)
		}
	}
	return out
}

func isFunction(obj trackable.Trackable) bool {
	switch obj.(type) {
	case *savedmodel.TrackableFunction, *savedmodel.TrackableBareFunction:
		return true
	}
	return false
}

func trackableVariable(obj trackable.Trackable) *trackable.Variable {
	if v, ok := obj.(trackable.VariableLike); ok {
		return v.AsVariable()
	}
	return nil
}

// match reports whether one of the patterns matches a name.
func (e *modelEdit) match(list []*regexp.Regexp, name string) bool {
	found := false
	for _, p := range list {
		if p.MatchString(name) {
			e.used[p], found = true, true
		}
	}
	return found
}

// functions drops and renames signatures and functions.
func (e *modelEdit) functions() error {
	defaults := e.defaults()
	for _, x := range e.edges() {
		if !isFunction(x.child) {
			continue
		}
		signature := strings.HasPrefix(x.path, signatures+".")
		kept := len(e.Keep) == 0 || e.match(e.Keep, x.path)
		if e.match(e.Drop, x.path) || !kept {
			x.parent.Remove(x.name)
			e.changes = append(e.changes, Change{Name: x.path, Drop: true})
			if signature {
				delete(defaults, x.name)
			}
			continue
		}
		for _, r := range e.Rename {
			if !r.Match.MatchString(x.path) {
				continue
			}
			e.used[r.Match] = true
			to := r.Match.ReplaceAllString(x.path, r.With)
			prefix := strings.TrimSuffix(x.path, x.name)
			name, below := strings.CutPrefix(to, prefix)
			if !below || name == "" || strings.Contains(name, ".") && !strings.Contains(x.name, ".") {
				return fmt.Errorf("convert: edit: %q would become %q; a name changes below its object only (%s…)", x.path, to, prefix)
			}
			if name == x.name {
				break
			}
			if err := x.parent.Rename(x.name, name); err != nil {
				return fmt.Errorf("convert: edit: %q would become %q: %w", x.path, to, err)
			}
			e.changes = append(e.changes, Change{Name: x.path, To: to})
			if d, ok := defaults[x.name]; ok && signature {
				delete(defaults, x.name)
				defaults[name] = d
			}
			break
		}
	}
	e.save.SignatureDefaults = defaults
	return nil
}

// defaults returns the defaults of the model's signatures.
func (e *modelEdit) defaults() map[string]map[string]*tensor.Tensor {
	out := map[string]map[string]*tensor.Tensor{}
	for _, s := range e.meta.Signatures {
		for _, in := range s.Inputs {
			if in.Default != nil {
				if out[s.Name] == nil {
					out[s.Name] = map[string]*tensor.Tensor{}
				}
				out[s.Name][in.Name] = in.Default
			}
		}
	}
	return out
}

// replacement is the object that replaces a variable.
type replacement struct {
	*storage
	object  trackable.Trackable
	capture graph.Capture
}

// replacements returns the replacements of variables that are cast or frozen.
func (e *modelEdit) replacements() (map[*trackable.Variable]*replacement, error) {
	if len(e.Cast)+len(e.Freeze) == 0 {
		return nil, nil
	}
	instead := map[*trackable.Variable]*replacement{}
	decided := map[*trackable.Variable]bool{}
	for _, x := range e.edges() {
		v := trackableVariable(x.child)
		if v == nil {
			continue
		}
		names := []string{x.path, v.Name()}
		for _, name := range names {
			freeze := e.match(e.Freeze, name)
			to := tensor.Invalid
			for _, c := range e.Cast {
				if c.Match.MatchString(name) {
					e.used[c.Match] = true
					to = c.To
					break
				}
			}
			if decided[v] || !freeze && to == tensor.Invalid {
				continue
			}
			decided[v] = true
			p, err := replace(v, freeze, to)
			if err != nil {
				return nil, fmt.Errorf("convert: edit the variable %s: %w", x.path, err)
			}
			if p == nil {
				continue
			}
			instead[v] = p
			c := Change{Name: x.path, Freeze: freeze}
			if !freeze {
				c.Cast = to.String()
			}
			e.changes = append(e.changes, c)
		}
	}
	return instead, nil
}

// replace returns the replacement of a variable; nil if it is stored that way already.
func replace(v *trackable.Variable, freeze bool, to tensor.DType) (*replacement, error) {
	t := v.Load()
	if t == nil {
		return nil, errors.New("it has no value")
	}
	s := &storage{frozen: freeze, to: to, fact: graph.Fact{DType: t.DType(), Shape: graph.Whole(t.Shape())}}
	if freeze {
		c := &savedmodel.TrackableConstant{Tensor: t}
		return &replacement{s, c, graph.Capture{Tensor: t, Resource: c}}, nil
	}
	if to == t.DType() {
		return nil, nil
	}
	if !t.DType().IsFloating() || !to.IsFloating() {
		return nil, fmt.Errorf("functions would see other values (got %v, want a floating type as %v)", t.DType(), to)
	}
	c, err := exactCast(v.Name(), t, to)
	if err != nil {
		return nil, err
	}
	w := trackable.NewVariable(c).Named(v.Name()).SetTrainable(v.Trainable())
	w.SetTraits(v.Traits())
	return &replacement{s, w, graph.Capture{Variable: w}}, nil
}

// traces returns the traces of all functions that the model has now.
func (e *modelEdit) traces() []*graph.Concrete {
	var out []*graph.Concrete
	seen := map[*graph.Concrete]bool{}
	add := func(f savedmodel.FunctionNode) {
		for _, c := range f.Traces() {
			if !seen[c] {
				seen[c] = true
				out = append(out, c)
			}
		}
	}
	for id := range e.walk.Nodes {
		obj := e.walk.Nodes[id].Object
		if f, ok := obj.(savedmodel.FunctionNode); ok {
			add(f)
		}
		if h, ok := obj.(savedmodel.SaveableHolder); ok {
			for _, pair := range h.SaveableFunctions() {
				add(pair.Save)
				add(pair.Restore)
			}
		}
	}
	return out
}

// rewriteTraces makes all functions read the variables as they are stored now.
func (e *modelEdit) rewriteTraces(instead map[*trackable.Variable]*replacement) error {
	w := new(functionRewriter)
	moved := map[*graph.Function]*graph.Function{}
	traces := e.traces()
	for _, c := range traces {
		args := make([]*storage, len(c.Function.Args))
		for i, x := range c.Captures {
			if p := instead[x.Variable]; x.Variable != nil && p != nil {
				args[c.NumArgs()+i] = p.storage
			}
		}
		made, err := w.rewrite(c.Function, args)
		if err != nil {
			return fmt.Errorf("convert: edit: %w", err)
		}
		for i, x := range c.Captures {
			if p := instead[x.Variable]; x.Variable != nil && p != nil {
				c.Captures[i] = p.capture
			}
		}
		if made.function != c.Function {
			moved[c.Function], c.Function = made.function, made.function
		}
	}
	for _, c := range traces {
		for _, x := range c.Captures {
			// A captured tensor has the function that computes it, which may be replaced.
			if t, ok := x.Resource.(*savedmodel.TrackableTensor); ok && moved[t.Function] != nil {
				t.Function = moved[t.Function]
			}
		}
	}
	return nil
}

// strip removes all but the signatures and their captures.
func (e *modelEdit) strip() {
	var captured []trackable.Edge
	if s, ok := e.root.Child(signatures).(*savedmodel.TrackableObject); ok {
		captured = e.capturedBy(s)
	}
	for _, x := range e.root.Edges() {
		if x.Name != signatures {
			e.root.Remove(x.Name)
			e.changes = append(e.changes, Change{Name: x.Name, Drop: true})
		}
	}
	for _, c := range captured {
		e.root.Set(c.Name, c.Child)
	}
	e.root.Traits = savedmodel.NewObject().Traits
}

// capturedBy returns edges to the objects that signatures capture. Their names are the
// paths of the objects.
func (e *modelEdit) capturedBy(s *savedmodel.TrackableObject) []trackable.Edge {
	var out []trackable.Edge
	seen, names := map[any]bool{}, map[string]bool{signatures: true}
	for _, x := range s.Edges() {
		f, ok := x.Child.(savedmodel.FunctionNode)
		if !ok {
			continue
		}
		for _, c := range f.Traces() {
			for _, k := range c.Captures {
				obj := k.Resource
				if k.Variable != nil {
					obj = k.Variable
				}
				if obj == nil || seen[trackable.Identity(obj)] {
					continue
				}
				seen[trackable.Identity(obj)] = true
				name := "captured"
				if id, ok := e.walk.ID(obj); ok {
					name = strings.ReplaceAll(e.walk.Human(id), ".", "_")
				}
				unique := name
				for n := 1; names[unique]; n++ {
					unique = fmt.Sprintf("%s_%d", name, n)
				}
				names[unique] = true
				out = append(out, trackable.Edge{Name: unique, Child: obj})
			}
		}
	}
	return out
}

// unmatched returns a [*PatternError] if a pattern matched nothing. names are those that
// the model had.
func (e *modelEdit) unmatched(src string, names []string) error {
	err := &PatternError{Path: src, What: "signature, function or variable"}
	look := func(field string, p *regexp.Regexp) {
		if e.used[p] {
			return
		}
		if err.Patterns = append(err.Patterns, field+" "+p.String()); len(err.Patterns) == 1 {
			err.Nearest = nearest.Names(likeness(p), names, 3)
		}
	}
	for _, p := range e.Keep {
		look("Keep", p)
	}
	for _, p := range e.Drop {
		look("Drop", p)
	}
	for _, r := range e.Rename {
		look("Rename", r.Match)
	}
	for _, c := range e.Cast {
		look("Cast", c.Match)
	}
	for _, p := range e.Freeze {
		look("Freeze", p)
	}
	if len(err.Patterns) == 0 {
		return nil
	}
	return err
}
