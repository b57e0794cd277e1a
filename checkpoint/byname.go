package checkpoint

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// restoreByName restores a checkpoint that has no object graph: every variable
// gets the tensor with its full name. A name is deferred if a layer that isn't built
// yet, or an empty field, may still bring a variable of that name. Whenever an object of
// the program gets a child, the names are compared again.
func (l *load) restoreByName(ctx context.Context, g *trackable.Graph) (*Report, error) {
	m, missing, err := l.matchNames(g, false)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.noteNames(m)
	l.mu.Unlock()
	missing = append(missing, l.deferNames(g)...)
	deferred, unused := l.leftByName()
	names := make([]string, 0, len(unused)+len(deferred))
	for _, u := range append(unused[:len(unused):len(unused)], deferred...) {
		names = append(names, u.Key)
	}
	for i := range missing {
		if i < maxListed {
			missing[i].Nearest = nearest.Names(missing[i].Key, names, 3)
		}
	}
	refused := &RestoreError{Path: l.src.path, Mismatched: m.mismatched, ByName: true}
	if !l.opts.AllowMissing {
		refused.Missing = missing
	}
	if !l.opts.Partial {
		refused.Unused = unused
	}
	if len(refused.Missing)+len(refused.Mismatched)+len(refused.Unused) > 0 {
		return nil, refused
	}
	l.mu.Lock()
	for _, it := range deferred {
		l.promised[it.Key] = true
	}
	l.mu.Unlock()
	l.guards.Store(!l.opts.AllowMissing)
	l.watchBelow(g)
	l.ck.keep(l)
	if err := m.apply(ctx); err != nil {
		return nil, err
	}
	return &Report{Path: l.src.path, l: l, Missing: missing, Deferred: deferred, Unused: unused, restored: m.restoredBy()}, nil
}

// noteReceived records that the object at path receives the tensor called name.
func (m *match) noteReceived(path, name string) {
	t, _ := m.l.src.reader.Find(name)
	m.add(0, t, path)
}

// matchNames plans the values that the variables of g receive by their names.
// It skips variables that are bound already.
func (l *load) matchNames(g *trackable.Graph, late bool) (*match, []Item, error) {
	m := &match{l: l, late: late}
	var missing []Item
	taken := map[string]string{}
	var aliases map[int]string
	if !l.opts.SkipSlots {
		aliases = l.slotAliases(g)
	}
	implied, counters := m.matchCounts(g), l.ck.counters(g)
	var arriving map[int]bool
	if late {
		arriving = arrivingIn(g, false) // who adds a child delivers to it
	}
	for id := range g.Nodes {
		n := &g.Nodes[id]
		if n.IsSlot && l.opts.SkipSlots || l.objects.has(n.Object) || arriving[id] {
			continue
		}
		v := n.Variable()
		if v == nil {
			names, err := attributesOf(n.Object)
			if err != nil {
				return nil, nil, err
			}
			if len(names) > 0 {
				missing = append(missing, Item{Path: g.Human(id), Attribute: names[0], Why: "the object has no name in a name-based checkpoint"})
			}
			continue
		}
		name := n.FullName
		if alias, ok := aliases[id]; ok {
			name = alias
		}
		it := Item{Path: g.Human(id), Attribute: trackable.VariableValue, Key: name}
		entry, ok := l.src.reader.Entry(name)
		switch other, dup := taken[name]; {
		case !ok:
			if !isCounter(counters, n.Object) && !implied[id] {
				it.DType, it.Shape, it.Why = v.DType(), v.Shape(), "the checkpoint has no tensor of the variable's full name"
				if len(missing) < maxListed { // more aren't shown
					if count := l.firstCount(g, id); count != "" {
						it.Why += fmt.Sprintf("; from its %s of TensorFlow 1 an optimizer with Keras' legacy layout goes on", count)
					}
				}
				missing = append(missing, it)
			}
			continue
		case dup:
			it.Why = "the name is that of " + other + " too; give the variables names of their own with Named"
			missing = append(missing, it)
			continue
		}
		taken[name] = it.Path
		it.DType, it.Shape = entry.DType, entry.Shape
		if err := v.Accepts(entry.DType, entry.Shape); err != nil {
			it.Why = mismatchWords(v, entry)
			m.mismatched = append(m.mismatched, it)
			continue
		}
		current := l.ck.stamp(n.Object) < l.order
		if late && current && internals.Written(v) {
			if !l.expectPartial {
				m.written, m.writtenIn = append(m.written, it), append(m.writtenIn, v)
			}
			continue
		}
		m.noteReceived(it.Path, entry.Name)
		if current {
			m.values.add(v, 0, m.restored[len(m.restored)-1].tensor, v.DType() == tensor.Invalid)
			m.stamped = append(m.stamped, n.Object)
		}
	}
	if !l.opts.SkipSlots {
		m.matchNewSlots(g, taken)
	}
	return m, missing, nil
}

// deferNames finds the names that objects of g may still create: those that
// layers declare, and any below the scope of an object that can grow. It
// sets l.mayName and l.open, and returns the declared names that the file lacks,
// or has with another type or shape.
func (l *load) deferNames(g *trackable.Graph) (missing []Item) {
	declared, scopes := map[string]bool{}, map[string]bool{}
	open := false
	for id := range g.Nodes {
		obj := g.Nodes[id].Object
		if list, ok := internals.Declare(obj, func(string) bool { return false }); ok {
			for _, v := range list {
				full := g.NameBelow(id, v.Edge, v.Name)
				declared[full] = true
				if e, ok := l.src.reader.Entry(full); !ok || !fits(v, e) {
					it := declaredItem(below(g.Human(id), v.Edge), obj)
					if ok {
						it.Why = fmt.Sprintf("the %T will make %s, the checkpoint has %s", obj, describe(v.DType, v.Shape), describe(e.DType, e.Shape))
					}
					it.Key = full
					missing = append(missing, it)
				}
			}
		}
		if internals.MayGrow(obj) {
			scopes[g.Scope(id)] = true
			_, tells := obj.(interface{ TellsOfChildren() })
			_, optimizer := obj.(trackable.SlotOwner)
			open = open || !tells && !optimizer
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = open
	l.mayName = func(name string) bool {
		if declared[name] || scopes[""] {
			return true
		}
		for i := range len(name) {
			if name[i] == '/' && scopes[name[:i]] {
				return true
			}
		}
		return false
	}
	return missing
}

// leftByName lists the names that no variable has. A name is deferred if a variable may
// still get it, or if the restore's report listed it as deferred.
func (l *load) leftByName() (deferred, unused []Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for e := range l.src.reader.Entries() {
		if l.usedNames[e.Name] {
			continue
		}
		it := Item{Path: e.Name, Key: e.Name, DType: e.DType, Shape: e.Shape}
		if l.promised[e.Name] || l.mayName != nil && l.mayName(e.Name) {
			deferred = append(deferred, it)
		} else {
			it.Why = "no variable has this full name"
			if isFirstCount(e.Name) {
				it.Why += "; it is what TensorFlow 1 keeps of an optimizer's count of steps, from which one with Keras' legacy layout goes on"
			}
			unused = append(unused, it)
		}
	}
	return deferred, unused
}

// nameFor returns the full name and the future path of v, a variable that is
// being created below parent. The name is "" if parent isn't a part of the program yet, or
// if another variable has that name's value. The caller checks that the file has the name.
func (l *load) nameFor(parent any, edge string, v *trackable.Variable) (name, path string, err error) {
	g, err := l.ck.walk()
	if err != nil {
		return "", "", err
	}
	id, ok := g.ID(parent)
	if !ok {
		return "", "", nil
	}
	name = g.NameOf(id, v)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.usedNames[name] {
		return "", "", nil
	}
	return name, below(g.Human(id), edge), nil
}

// takeName records that v has the value called name.
func (l *load) takeName(name string, v *trackable.Variable) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.usedNames[name] = true
	l.objects.add(v)
}

// deliverNames restores variables that appeared after the restore: child and
// the variables below it, or all if child is nil.
func (l *load) deliverNames(ctx context.Context, child any) error {
	l.mu.Lock()
	// A variable that has its value may bring slots.
	done := child != nil && variableOf(child) == nil && l.objects.has(child)
	l.mu.Unlock()
	if done || !l.hasPending() && !l.guards.Load() {
		return nil
	}
	g, err := l.ck.walk()
	if err != nil {
		return err
	}
	l.watchBelow(g)
	l.deferNames(g)
	l.mu.Lock()
	m, _, err := l.matchNames(g, true)
	if err == nil {
		err = m.refuse()
	}
	if err == nil {
		l.noteNames(m)
	}
	l.mu.Unlock()
	if err != nil {
		return err
	}
	return m.apply(ctx)
}
