package checkpoint

import (
	"context"

	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/trackable"
)

// restoreByName restores a checkpoint that has no object graph: every variable
// gets the tensor with its full name. There is nothing to defer by edges; a
// later Sync looks for the names of variables that have appeared since.
func (l *load) restoreByName(ctx context.Context) (*Report, error) {
	g, err := l.ck.walk()
	if err != nil {
		return nil, err
	}
	m, missing, err := l.matchNames(g)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	for _, r := range m.values {
		l.usedNames[r.key] = true
		l.objects[trackable.Identity(r.v)] = true
	}
	for _, d := range m.restored {
		l.usedNames[d.key] = true
	}
	l.mu.Unlock()
	unused := l.leftByName()
	names := make([]string, len(unused))
	for i, u := range unused {
		names[i] = u.Key
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
	l.ck.keep(l)
	if err := m.apply(ctx); err != nil {
		return nil, err
	}
	r := &Report{Path: l.src.path, l: l, Missing: missing, Unused: unused}
	for _, d := range m.restored {
		r.Restored = append(r.Restored, Item{Path: d.attr, Attribute: trackable.VariableValue, Key: d.key, DType: d.dtype, Shape: d.shape})
	}
	return r, nil
}

// matchNames plans what the variables of g get by their names. Variables bound
// before are left alone.
func (l *load) matchNames(g *trackable.Graph) (*match, []Item, error) {
	m := &match{l: l}
	var missing []Item
	taken := map[string]string{}
	for id := range g.Nodes {
		n := &g.Nodes[id]
		if n.IsSlot && l.opts.SkipSlots || l.objects[trackable.Identity(n.Object)] {
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
		it := Item{Path: g.Human(id), Attribute: trackable.VariableValue, Key: n.FullName}
		entry, ok := l.src.reader.Entry(n.FullName)
		switch other, dup := taken[n.FullName]; {
		case !ok:
			if !l.ck.isCounter(n.Object) {
				it.DType, it.Shape, it.Why = v.DType(), v.Shape(), "the checkpoint has no tensor of the variable's full name"
				missing = append(missing, it)
			}
			continue
		case dup:
			it.Why = "the name is that of " + other + " too; give the variables names of their own with Named"
			missing = append(missing, it)
			continue
		}
		taken[n.FullName] = it.Path
		it.DType, it.Shape = entry.DType, entry.Shape
		if err := v.Accepts(entry.DType, entry.Shape); err != nil {
			it.Why = mismatchWords(v, entry)
			m.mismatched = append(m.mismatched, it)
			continue
		}
		m.restored = append(m.restored, done{attr: it.Path, key: n.FullName, dtype: entry.DType, shape: entry.Shape})
		if l.ck.stamp(n.Object) < l.order {
			m.values = append(m.values, valueRead{v: v, key: n.FullName, shape: entry.Shape})
			m.stamped = append(m.stamped, n.Object)
		}
	}
	return m, missing, nil
}

// leftByName lists the names that no variable has.
func (l *load) leftByName() []Item {
	l.mu.Lock()
	defer l.mu.Unlock()
	var items []Item
	for e := range l.src.reader.Entries() {
		if !l.usedNames[e.Name] {
			items = append(items, Item{Path: e.Name, Key: e.Name, DType: e.DType, Shape: e.Shape, Why: "no variable has this full name"})
		}
	}
	return items
}

// syncNames restores variables that appeared after the restore.
func (l *load) syncNames(ctx context.Context) error {
	g, err := l.ck.walk()
	if err != nil {
		return err
	}
	l.mu.Lock()
	m, _, err := l.matchNames(g)
	if err == nil {
		err = m.refuse()
	}
	if err == nil {
		for _, r := range m.values {
			l.usedNames[r.key] = true
			l.objects[trackable.Identity(r.v)] = true
		}
	}
	l.mu.Unlock()
	if err != nil {
		return err
	}
	return m.apply(ctx)
}
