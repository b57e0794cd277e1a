package convert

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// Rename replaces the part of a name that Match matches by With, in which $1 is
// the first group.
type Rename struct {
	Match *regexp.Regexp
	With  string
}

// Cast changes the type of the tensors whose names match.
type Cast struct {
	Match *regexp.Regexp
	To    tensor.DType
}

// Edits are the changes that [Edit] makes, in this order: names that match any
// of Drop are left out, the others cast, then renamed. All patterns see the
// names as they are in the source; those of Drop and Cast also see the names of a
// SavedModel's variables ([tensorfile.File.VariableNames]).
type Edits struct {
	Drop   []*regexp.Regexp
	Cast   []Cast
	Rename []Rename
	// KeepShared keeps tensors that Drop matches if the object graph leads to them
	// by a path that it doesn't match. Without it, and without Options.Lossy, such
	// a tensor is a [SharedError].
	KeepShared bool

	variables map[string]string // names of a SavedModel's variables, by tensor
}

// match reports whether a pattern matches a tensor's name or its variable's.
func (e Edits) match(p *regexp.Regexp, name string) bool {
	v := e.variables[name]
	return p.MatchString(name) || v != "" && p.MatchString(v)
}

// check returns an error if a pattern is missing.
func (e Edits) check() error {
	missing := func(kind string, i int) error {
		return fmt.Errorf("convert: Edits.%s[%d] has no pattern; regexp.MustCompile makes one", kind, i)
	}
	for i, re := range e.Drop {
		if re == nil {
			return missing("Drop", i)
		}
	}
	for i, c := range e.Cast {
		if c.Match == nil {
			return missing("Cast", i)
		}
	}
	for i, r := range e.Rename {
		if r.Match == nil {
			return missing("Rename", i)
		}
	}
	return nil
}

// Change is the effect of [Edit] on one tensor, or of [EditModel] on a part of a model. Unchanged ones are
// not listed. docs/json.md describes the JSON, which must stay.
type Change struct {
	Name string `json:"name"`
	To   string `json:"to,omitempty"`   // its new name
	Cast string `json:"cast,omitempty"` // its new type
	Drop bool   `json:"drop,omitempty"`
	// Freeze and Add are of SavedModels: the variable has become a constant, the tag is new.
	Freeze bool `json:"freeze,omitempty"`
	Add    bool `json:"add,omitempty"`
}

// Edit writes the file at src to dst with changes. The object graph changes with
// them: its checkpoint keys are the new names. If all tensors below an edge move from
// one path to another, the edge is renamed too, so that objects find their values
// under the new path. Dropped tensors leave the graph. Unchanged tensors are copied
// byte for byte. A pattern that matches no name is a *[PatternError]. With an empty
// dst it only returns the changes that would be made, or the error of a refusal.
func Edit(ctx context.Context, src, dst string, edits Edits, o *Options) ([]Change, *Result, error) {
	if err := edits.check(); err != nil {
		return nil, nil, err
	}
	s, err := o.open(ctx, src)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	all, err := items(s)
	if err != nil {
		return nil, nil, err
	}
	if o == nil {
		o = &Options{}
	}
	edits.variables = s.VariableNames(ctx)
	if err := edits.checkMatches(s.Prefix, all); err != nil {
		return nil, nil, err
	}
	if dst != "" { // before any work
		if err := tensorfile.CheckTarget(dst); err != nil {
			return nil, nil, err
		}
	}
	var notes []string
	shared, err := edits.shared(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case len(shared) == 0:
	case edits.KeepShared:
		notes = append(notes, fmt.Sprintf("kept %s that other objects use too, %s", plural(len(shared), "1 tensor", fmt.Sprintf("%d tensors", len(shared))), shared.some()))
	case o.Lossy:
		notes = append(notes, fmt.Sprintf("dropped %s that other objects use too, %s", plural(len(shared), "1 tensor", fmt.Sprintf("%d tensors", len(shared))), shared.some()))
		shared = nil
	default:
		return nil, nil, &SharedError{Path: s.Prefix, Shared: shared}
	}
	kept, changes, err := edits.apply(all, shared)
	if err != nil {
		return nil, nil, err
	}
	for n := range kept {
		kept[n].lossy = o.Lossy
	}
	var og *pb.TrackableObjectGraph
	if slices.ContainsFunc(kept, func(i item) bool { return i.from() == tensorfile.GraphKey }) {
		if og, err = s.DecodeGraph(ctx); err != nil {
			return nil, nil, err
		}
	}
	if og != nil {
		e := graphEdit{g: og, names: map[string]string{}}
		for _, i := range kept {
			e.names[i.from()] = i.name
		}
		for _, c := range changes {
			if c.Drop {
				e.names[c.Name] = ""
			}
		}
		notes = append(notes, e.run()...)
		if e.changed {
			raw := string(og.Marshal())
			for n := range kept {
				if kept[n].from() == tensorfile.GraphKey {
					kept[n].value = tensor.Scalar(raw)
					kept[n].bytes = int64(len(raw))
				}
			}
		}
	}
	if dst == "" {
		return changes, &Result{Notes: notes}, tryCasts(ctx, s, kept)
	}
	res, err := write(ctx, &list{s: s, items: kept}, dst, len(changes) == 0, o)
	if err != nil {
		return changes, nil, err
	}
	res.Notes = append(notes, res.Notes...)
	return changes, res, nil
}

// tryCasts returns the error with which writing the items would refuse a cast
// that changes values.
func tryCasts(ctx context.Context, s *tensorfile.File, list []item) error {
	var casts []item
	for _, i := range list {
		if i.cast && !i.lossy {
			casts = append(casts, i)
		}
	}
	from := &ahead{s: s, len: len(casts), at: func(n int) item { return casts[n] }}
	for n := range casts {
		if _, err := from.read(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// apply returns the items with the changes made, and the changes. Items in keep aren't dropped. It reuses the
// memory of all, because there may be very many.
func (e Edits) apply(all []item, keep sharedTensors) ([]item, []Change, error) {
	list := all[:0]
	changes := make([]Change, 0, len(all))
	taken := make(map[string]int32, len(all)) // the names in the destination, by their place in the list
	for _, i := range all {
		c := Change{Name: i.from()}
		c.Drop = slices.ContainsFunc(e.Drop, func(p *regexp.Regexp) bool { return e.match(p, i.from()) })
		if _, kept := keep[i.from()]; c.Drop && !kept {
			changes = append(changes, c)
			continue
		}
		c.Drop = false
		if i.from() == tensorfile.GraphKey {
			// It goes by its name, and follows the others' names by itself.
			taken[i.name] = int32(len(list))
			list = append(list, i)
			continue
		}
		for _, k := range e.Cast {
			if e.match(k.Match, i.from()) && k.To != i.dtype {
				if !tensor.CanCast(i.dtype, k.To) {
					return nil, nil, fmt.Errorf("%q is %v, which can't be cast to %v", i.from(), i.dtype, k.To)
				}
				n, err := i.shape().NumElements()
				if err != nil {
					return nil, nil, err
				}
				i.dtype, i.cast, i.bytes = k.To, true, int64(n)*int64(k.To.Size())
				c.Cast = k.To.String()
			}
		}
		for _, r := range e.Rename {
			i.name = r.Match.ReplaceAllString(i.name, r.With)
		}
		switch other, dup := taken[i.name]; {
		case i.name == "":
			return nil, nil, fmt.Errorf("%q would have no name", i.from())
		case dup:
			return nil, nil, fmt.Errorf("%q and %q would both be called %q", list[other].from(), i.from(), i.name)
		}
		taken[i.name] = int32(len(list))
		if i.name != i.from() {
			c.To = i.name
		}
		if c.To != "" || c.Cast != "" {
			changes = append(changes, c)
		}
		list = append(list, i)
	}
	return list, changes, nil
}

const attributesMark = "/.ATTRIBUTES/"
const slotMark = "/.OPTIMIZER_SLOT/"

// graphEdit makes an object graph follow its tensors' new names.
type graphEdit struct {
	g       *pb.TrackableObjectGraph
	names   map[string]string // every tensor's new name by the old; "" is dropped
	changed bool
	notes   []string

	sorted    []string           // the keys of names, once asked for
	stems     map[string]newName // the results of stem
	saved     map[string]newName // the results of renamedAlike, by the old name
	elsewhere int                // values whose new names are of other depths than their objects

	parent []int // of each node, in the tree of first paths; -1 unreached
	edge   []int // the parent's edge that leads to it
	depth  []int // number of edges from the root
}

// newName is the common new name of several tensors; ok is false if there is none.
type newName struct {
	to string
	ok bool
}

// below returns the old names that begin with prefix, in order.
func (e *graphEdit) below(prefix string) []string {
	if e.sorted == nil {
		e.sorted = slices.Sorted(maps.Keys(e.names))
	}
	from, _ := slices.BinarySearch(e.sorted, prefix)
	n, _ := slices.BinarySearchFunc(e.sorted[from:], prefix, func(name, prefix string) int {
		if strings.HasPrefix(name, prefix) {
			return -1
		}
		return 1
	})
	return e.sorted[from : from+n]
}

// run changes the graph, and returns notes for the user.
func (e *graphEdit) run() []string {
	e.walk()
	wants := map[[2]int]string{} // new local name by parent and edge
	clash := map[[2]int]bool{}
	slots := map[int]string{} // new slot name by the slot variable's node
	for i, n := range e.g.Nodes {
		kept := n.Attributes[:0]
		for _, a := range n.Attributes {
			to, known := e.names[a.CheckpointKey]
			switch {
			case !known:
				// Tables and iterators: the key is the stem of their tensors' names. If those
				// moved alike, it moves too.
				to, ok := e.stem(a.CheckpointKey)
				if ok && to == "" {
					e.changed = true
					continue
				}
				if ok {
					e.edgesFor(i, a.CheckpointKey, to, wants, clash)
					e.changed = e.changed || to != a.CheckpointKey
					a.CheckpointKey = to
				}
			case to == "":
				e.changed = true
				continue
			default:
				if to != a.CheckpointKey {
					if name, ok := slotOf(to); ok {
						slots[i] = name
					}
					e.edgesFor(i, a.CheckpointKey, to, wants, clash)
					a.CheckpointKey = to
					e.changed = true
				} else {
					e.edgesFor(i, to, to, wants, clash)
				}
			}
			kept = append(kept, a)
		}
		n.Attributes = kept
		e.renameSaved(i, n, wants, clash)
	}
	e.renameEdges(wants, clash)
	for _, n := range e.g.Nodes {
		for _, v := range n.SlotVariables {
			if name, ok := slots[int(v.SlotVariableNodeId)]; ok {
				v.SlotName = name
			}
		}
	}
	e.dropSlots()
	if e.changed {
		e.mark()
	}
	return e.notes
}

// stem returns the new form of a key that begins the names of several tensors, such as the
// key table of table-keys and table-values; "" if all of them are dropped. ok is false
// if there are none or they move differently.
func (e *graphEdit) stem(key string) (to string, ok bool) {
	r, known := e.stems[key]
	if !known {
		if e.stems == nil {
			e.stems = map[string]newName{}
		}
		r.to, r.ok = e.stemOf(key)
		e.stems[key] = r
	}
	return r.to, r.ok
}

func (e *graphEdit) stemOf(key string) (to string, ok bool) {
	prefix := key
	if !strings.Contains(key, attributesMark) {
		prefix += attributesMark // the tensors of an object's own attributes
	}
	for _, name := range e.below(prefix) {
		rest := name[len(key):]
		now, same := strings.CutSuffix(e.names[name], rest)
		if e.names[name] == "" {
			now, same = "", true
		}
		if !same || ok && now != to {
			return "", false
		}
		to, ok = now, true
	}
	return to, ok
}

// renameSaved renames an object that a registered saver wrote, if all tensors
// under its name moved alike. A restore passes that name to the saver.
func (e *graphEdit) renameSaved(node int, n *pb.TrackableObject, wants map[[2]int]string, clash map[[2]int]bool) {
	if n.RegisteredSaver == nil || n.RegisteredSaver.ObjectName == "" {
		return
	}
	old := n.RegisteredSaver.ObjectName
	r, known := e.saved[old]
	if !known {
		if e.saved == nil {
			e.saved = map[string]newName{}
		}
		r = e.renamedAlike(old)
		e.saved[old] = r
	}
	if !r.ok {
		return
	}
	moved := r.to
	e.edgesFor(node, old+attributesMark, moved+attributesMark, wants, clash)
	if moved != old {
		n.RegisteredSaver.ObjectName = moved
		e.changed = true
	}
}

// renamedAlike returns the name that replaces old in the names of all tensors below it.
func (e *graphEdit) renamedAlike(old string) (r newName) {
	for _, from := range e.below(old + "/") {
		to := e.names[from]
		if to == "" {
			continue
		}
		now, ok := strings.CutSuffix(to, from[len(old):])
		if !ok || now == "" || r.ok && r.to != now {
			return newName{}
		}
		r = newName{now, true}
	}
	return r
}

// walk finds the first path to every node, breadth first. References that lead
// out of the graph are ignored.
func (e *graphEdit) walk() {
	n := len(e.g.Nodes)
	e.parent, e.edge, e.depth = make([]int, n), make([]int, n), make([]int, n)
	for i := range e.parent {
		e.parent[i] = -1
	}
	if n == 0 {
		return
	}
	e.parent[0] = 0
	for queue := []int{0}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for k, c := range e.g.Nodes[at].Children {
			id := int(c.NodeId)
			if id < 0 || id >= n || e.parent[id] >= 0 {
				continue
			}
			e.parent[id], e.edge[id] = at, k
			e.depth[id] = e.depth[at] + 1
			queue = append(queue, id)
		}
	}
}

// edgesFor adds to wants the names that the edges on the first path to a node need, so that
// its value's key from becomes to. Edges that need two names are added to clash.
func (e *graphEdit) edgesFor(node int, from, to string, wants map[[2]int]string, clash map[[2]int]bool) {
	if node == 0 || e.parent[node] < 0 {
		return
	}
	old, _, ok1 := strings.Cut(from, attributesMark)
	now, _, ok2 := strings.Cut(to, attributesMark)
	if !ok1 || !ok2 || strings.Contains(from, slotMark) {
		return
	}
	a, b := strings.Split(old, "/"), strings.Split(now, "/")
	if len(a) != e.depth[node] {
		return // not the first path's key
	}
	if len(a) != len(b) {
		if from != to {
			e.clashAll(node, clash)
			e.elsewhere++
		}
		return
	}
	at := node
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != escape(e.g.Nodes[e.parent[at]].Children[e.edge[at]].LocalName) {
			return
		}
		key := [2]int{e.parent[at], e.edge[at]}
		if w, ok := wants[key]; ok && w != b[i] {
			clash[key] = true
		}
		if _, ok := wants[key]; !ok || b[i] != a[i] {
			wants[key] = b[i] // a wish to move outlives those to stay, to be reported
		}
		at = e.parent[at]
	}
}

// slotOf returns the slot's name in the key of a slot variable:
// variable/.OPTIMIZER_SLOT/optimizer/name/.ATTRIBUTES/VARIABLE_VALUE.
func slotOf(key string) (string, bool) {
	path, _, ok := strings.Cut(key, attributesMark)
	i := strings.LastIndex(path, slotMark)
	if !ok || i < 0 {
		return "", false
	}
	rest := path[i+len(slotMark):]
	j := strings.LastIndexByte(rest, '/')
	return unescape(rest[j+1:]), j >= 0
}

// clashAll keeps every edge on the way to a node as it is.
func (e *graphEdit) clashAll(node int, clash map[[2]int]bool) {
	for at := node; at != 0; at = e.parent[at] {
		clash[[2]int{e.parent[at], e.edge[at]}] = true
	}
}

// edgeMove is an edge that gets a new name, unless another edge keeps that name.
type edgeMove struct {
	parent, edge int
	to           string
	stays        bool
}

// renameEdges renames the edges unless anything below prevents it, and notes
// those that stay: TensorFlow finds values by the edges, not by keys.
func (e *graphEdit) renameEdges(wants map[[2]int]string, clash map[[2]int]bool) {
	var moves []edgeMove
	for key, w := range wants {
		if to := unescape(w); to != e.g.Nodes[key[0]].Children[key[1]].LocalName {
			moves = append(moves, edgeMove{key[0], key[1], to, clash[key]})
		}
	}
	slices.SortFunc(moves, func(a, b edgeMove) int { return cmp.Or(cmp.Compare(a.parent, b.parent), cmp.Compare(a.edge, b.edge)) })
	left := 0
	for len(moves) > 0 {
		n := 1
		for n < len(moves) && moves[n].parent == moves[0].parent {
			n++
		}
		left += e.renameChildren(e.g.Nodes[moves[0].parent].Children, moves[:n])
		moves = moves[n:]
	}
	if left > 0 {
		e.notes = append(e.notes, fmt.Sprintf("%d %s of the object graph %s as before, since not all that lies below moved alike; objects find their values under the old paths",
			left, plural(left, "edge", "edges"), plural(left, "stays", "stay")))
	}
	if e.elsewhere > 0 {
		e.notes = append(e.notes, fmt.Sprintf("%d %s to another depth, where the object graph can't follow; objects find %s under the old %s",
			e.elsewhere, plural(e.elsewhere, "value moves", "values move"), plural(e.elsewhere, "it", "them"), plural(e.elsewhere, "path", "paths")))
	}
}

// renameChildren renames some edges of one node together, and returns the number of those that stay as before. An
// edge stays if its new name is that of another edge that stays, or an earlier one's new name.
func (e *graphEdit) renameChildren(children []*pb.ObjectReference, moves []edgeMove) (left int) {
	moving := make(map[int]bool, len(moves))
	for _, m := range moves {
		moving[m.edge] = true
	}
	kept := make(map[string]bool, len(children)) // names that stay
	for k, c := range children {
		if !moving[k] {
			kept[c.LocalName] = true
		}
	}
	byName := make(map[string]*edgeMove, len(moves)) // by the new name
	var stay []*edgeMove
	for i := range moves {
		m := &moves[i]
		if m.stays || kept[m.to] || byName[m.to] != nil {
			stay = append(stay, m)
			continue
		}
		byName[m.to] = m
	}
	for ; len(stay) > 0; stay = stay[1:] {
		stay[0].stays = true
		left++
		name := children[stay[0].edge].LocalName
		if m := byName[name]; m != nil { // it can't have the name
			delete(byName, name)
			stay = append(stay, m)
		}
	}
	for _, m := range byName {
		children[m.edge].LocalName = m.to
		e.changed = true
	}
	return left
}

// dropSlots takes away references to slot variables that have no value left.
func (e *graphEdit) dropSlots() {
	for _, n := range e.g.Nodes {
		kept := n.SlotVariables[:0]
		for _, v := range n.SlotVariables {
			if id := int(v.SlotVariableNodeId); e.changed && id >= 0 && id < len(e.g.Nodes) && len(e.g.Nodes[id].Attributes) == 0 {
				continue
			}
			kept = append(kept, v)
		}
		n.SlotVariables = kept
	}
}

// mark computes anew which nodes have values at or below them, if the graph
// records that at all.
func (e *graphEdit) mark() {
	parents := make([][]int, len(e.g.Nodes))
	has := make([]bool, len(e.g.Nodes))
	var queue []int
	for i, n := range e.g.Nodes {
		for _, c := range n.Children {
			if id := int(c.NodeId); id >= 0 && id < len(parents) {
				parents[id] = append(parents[id], i)
			}
		}
		if len(n.Attributes) > 0 || len(n.SlotVariables) > 0 || n.RegisteredSaver != nil && n.RegisteredSaver.Name != "" {
			has[i] = true
			queue = append(queue, i)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, p := range parents[queue[0]] {
			if !has[p] {
				has[p] = true
				queue = append(queue, p)
			}
		}
	}
	for i, n := range e.g.Nodes {
		if n.HasCheckpointValues != nil {
			n.HasCheckpointValues.Value = has[i]
		}
	}
}

// escape returns the form of an edge's name in a key.
func escape(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, ".", ".."), "/", ".S")
}

// unescape undoes [escape].
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '.' && i+1 < len(s) && (s[i+1] == '.' || s[i+1] == 'S') {
			i++
			if s[i] == 'S' {
				b.WriteByte('/')
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
