package checkpoint

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// namedRead has the names of values for an object that keeps them outside of variables.
type namedRead struct {
	at    trackable.NameRestorer
	path  string // of the object
	names []string
}

// scalars returns the names of the file's numbers without a dimension, sorted.
func (l *load) scalars() []string {
	if l.scalarNames == nil {
		l.scalarNames = []string{}
		for e := range l.src.reader.Entries() {
			if len(e.Shape) == 0 && (e.DType.IsInteger() || e.DType.IsFloating()) {
				l.scalarNames = append(l.scalarNames, e.Name)
			}
		}
	}
	return l.scalarNames
}

// matchCounts plans the restore of counts that the file has under separate names,
// such as TensorFlow 1's step count. It returns the nodes whose variables the
// file may then lack. The caller, a delivery, holds the load's lock.
func (m *match) matchCounts(g *trackable.Graph) (implied map[int]bool) {
	l := m.l
	for id := range g.Nodes {
		r, ok := g.Nodes[id].Object.(trackable.NameRestorer)
		if !ok {
			continue
		}
		names := slices.DeleteFunc(slices.Clone(r.NamesFor(l.scalars())), func(name string) bool {
			_, ok := l.src.reader.Entry(name)
			return !ok
		})
		if len(names) == 0 {
			continue
		}
		if implied == nil {
			implied = make(map[int]bool)
		}
		for _, e := range g.Nodes[id].Edges {
			if g.Nodes[e.ID].Variable() != nil {
				implied[e.ID] = true
			}
		}
		if l.counted.has(r) {
			continue // it has them
		}
		m.counts = append(m.counts, namedRead{r, g.Human(id), names})
		for _, name := range names {
			m.noteReceived(g.Human(id), name)
		}
	}
	return implied
}

// isFirstCount reports whether a name is one of those under which TensorFlow 1's
// programs save how many steps an optimizer has taken.
func isFirstCount(name string) bool {
	switch path.Base(name) {
	case "global_step", "beta1_power", "beta2_power":
		return true
	}
	return false
}

// firstCount returns the name of TensorFlow 1's count in the file if node id is a
// variable of an optimizer, and "" otherwise.
func (l *load) firstCount(g *trackable.Graph, id int) string {
	i := slices.IndexFunc(l.scalars(), isFirstCount)
	if i < 0 {
		return ""
	}
	for at := range g.Nodes {
		if _, ok := g.Nodes[at].Object.(trackable.SlotOwner); ok && slices.ContainsFunc(g.Nodes[at].Edges, func(e trackable.Ref) bool { return e.ID == id }) {
			return l.scalars()[i]
		}
	}
	return ""
}

// restoreCounts restores the objects of list. read has the tensors of their names, in that order.
func (l *load) restoreCounts(list []namedRead, read []bundle.ReadRequest) error {
	var errs []error
	for _, c := range list {
		values := make(map[string]*tensor.Tensor, len(c.names))
		for _, name := range c.names {
			values[name], read = read[0].Dst, read[1:]
		}
		if err := c.at.RestoreNamed(values); err != nil {
			errs = append(errs, fmt.Errorf("checkpoint: %s continues with %q of %s, after variables have changed already: %w", c.path, c.names, l.src.path, err))
		}
	}
	return errors.Join(errs...)
}
