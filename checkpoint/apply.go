package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/restoring"
	"github.com/cairnml/cairn/internal/scratch"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// apply reads the values that the match planned. If it fails halfway, the
// objects hold a mixture of old and restored values, and every Checkpoint
// refuses to save them.
func (m *match) apply(ctx context.Context) error {
	err := m.read(ctx)
	if err != nil {
		m.interrupted(err)
	}
	return err
}

// read reads all values other than those of registered savers in one parallel read,
// those of variables straight into their storage. Then it restores new slots, counts,
// serializers and registered savers.
func (m *match) read(ctx context.Context) error {
	l := m.l
	rest, err := m.readValues(ctx)
	if err != nil {
		return err
	}
	for _, obj := range m.stamped {
		l.ck.setStamp(obj, l.order)
	}
	next := func() *tensor.Tensor {
		t := rest[0].Dst
		rest = rest[1:]
		return t
	}
	for _, r := range m.values.fresh {
		if t := next(); !m.outlived(r.v) {
			r.v.Init(t)
		}
	}
	var errs []error
	for _, s := range m.newSlots {
		errs = append(errs, m.restoreSlot(s, next()))
	}
	counts := 0
	for _, c := range m.counts {
		counts += len(c.names)
	}
	errs = append(errs, l.restoreCounts(m.counts, rest[:counts]))
	rest = rest[counts:]
	for _, s := range m.serials {
		tensors := make(map[string]*tensor.Tensor, len(s.keys))
		for _, name := range s.names() {
			tensors[name] = next()
		}
		if m.outlived(s.s) {
			continue
		}
		if err := s.s.RestoreFromTensors(tensors); err != nil {
			errs = append(errs, fmt.Errorf("checkpoint: restoring %s (%T), after variables have changed already: %w", l.graph.human(s.node), s.s, err))
		}
		markRestored(s.s)
	}
	for _, g := range m.savers.list {
		errs = append(errs, m.restoreRegistered(ctx, g))
	}
	return errors.Join(errs...)
}

// outlived reports whether the match is a delivery and a later restore has set obj's values
// meanwhile. These values stay.
func (m *match) outlived(obj any) bool { return m.late && m.l.ck.stamp(obj) > m.l.order }

// variableLists are the variables of rows that are read.
var variableLists scratch.Pool[*trackable.Variable]

// readValues reads into the variables. It returns the remaining requests: values
// for fresh variables, new slots, counts and serializers, in this order.
func (m *match) readValues(ctx context.Context) ([]bundle.ReadRequest, error) {
	l := m.l
	whole := m.values.whole
	var reqs []bundle.ReadRequest
	for _, r := range m.values.fresh {
		reqs = append(reqs, l.src.reader.Request(r.tensor))
	}
	for _, s := range m.newSlots {
		reqs = append(reqs, bundle.ReadRequest{Name: s.key})
	}
	for _, c := range m.counts {
		for _, name := range c.names {
			reqs = append(reqs, bundle.ReadRequest{Name: name})
		}
	}
	for _, s := range m.serials {
		for _, name := range s.names() {
			reqs = append(reqs, bundle.ReadRequest{Name: s.keys[name]})
		}
	}
	if len(reqs)+len(whole) == 0 {
		return nil, nil
	}
	progress := l.opts.Progress
	if progress == nil {
		progress = l.ck.o.Progress
	}
	vars, restore := m.values.vars, &restoring.Options{Unwritten: m.late, Stamp: l.order}
	into := func(reads []int32, fill func([]*tensor.Tensor) error) error {
		kept := variableLists.Get()
		list := scratch.Of(kept, len(reads))
		for i, n := range reads {
			list[i] = vars[n]
		}
		defer func() {
			clear(list)
			variableLists.Put(kept)
		}()
		return internals.RestoreAll(list, func(i int) tensor.Shape {
			_, s := l.src.reader.KindOf(whole[reads[i]])
			return s
		}, fill, restore)
	}
	err := l.src.reader.ReadAll(ctx, reqs, &bundle.ReadAllOptions{Workers: l.opts.Workers, Progress: progress, Whole: whole, Into: into})
	if err != nil {
		return nil, fmt.Errorf("checkpoint: reading %s; the variables keep the values read before the failure, so restore another checkpoint or start anew: %w", l.src.path, err)
	}
	return reqs, nil
}

// restoreSlot creates an optimizer's slot with value, unless a later restore has
// created it.
func (m *match) restoreSlot(s newSlot, value *tensor.Tensor) error {
	l := m.l
	slot := s.owner.Slot(s.v, s.name)
	if slot == nil || !m.outlived(slot) {
		var err error
		if slot, err = s.owner.RestoreSlot(s.v, s.name, value); err == nil && slot == nil {
			err = errors.New("the optimizer made none")
		}
		if err != nil {
			return fmt.Errorf("checkpoint: slot %q of %s from %q: %w", s.name, s.v.Name(), s.key, err)
		}
		l.ck.setStamp(slot, l.order)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.node != noNode {
		l.bound.set(s.node, slot)
	}
	l.objects.add(slot)
	return nil
}

// restoreRegistered calls a registered saver to restore its objects, except those
// that a later restore has filled.
func (m *match) restoreRegistered(ctx context.Context, g *saverGroup) error {
	left := *g
	left.objects = slices.DeleteFunc(slices.Clone(g.objects), func(obj Object) bool { return m.outlived(obj.Object) })
	if len(left.objects) == 0 {
		return nil
	}
	err := g.saver.Restore(ctx, m.l.restoreCall(&left))
	if err != nil {
		err = fmt.Errorf("checkpoint: registered saver %q, after variables have changed already: %w", g.name, err)
	}
	for _, obj := range left.objects {
		markRestored(obj.Object)
	}
	return err
}

// restoreCall returns the argument of a registered saver's Restore.
func (l *load) restoreCall(g *saverGroup) *RestoreCall {
	return &RestoreCall{Objects: Objects{list: g.objects}, Prefix: l.src.prefix, FS: l.src.fsys, Reader: l.src.reader}
}

// markRestored tells obj, if it is a variable, that its value comes from a restore.
func markRestored(obj any) {
	if v := variableOf(obj); v != nil {
		internals.MarkRestored(v)
	}
}

// precheck lets the objects and registered savers that have a check examine
// their values before anything changes. If one refuses, the error is a
// *RestoreError.
func (m *match) precheck(ctx context.Context) error {
	l := m.l
	refused := &RestoreError{Path: l.src.path, Late: m.late}
	for _, s := range m.serials {
		c, ok := s.s.(trackable.RestoreChecker)
		if !ok {
			continue
		}
		tensors := make(map[string]*tensor.Tensor, len(s.keys))
		for _, name := range slices.Sorted(maps.Keys(s.keys)) { // of several damaged values, the first is reported
			t, err := l.src.reader.Read(ctx, s.keys[name])
			if err != nil {
				return fmt.Errorf("checkpoint: reading %s, nothing was changed: %w", l.src.path, err)
			}
			tensors[name] = t
		}
		if err := c.CheckRestore(tensors); err != nil {
			refused.Mismatched = append(refused.Mismatched, Item{Path: l.graph.human(s.node), Why: err.Error()})
			refused.causes = append(refused.causes, err)
		}
	}
	if len(m.savers.list) > 0 {
		// A saver may read any file, and by then the variables have changed.
		if err := l.src.reader.CheckFiles(ctx); err != nil {
			return fmt.Errorf("checkpoint: restoring %s, nothing was changed: %w", l.src.path, err)
		}
	}
	for _, g := range m.savers.list {
		if g.saver.Check == nil {
			continue
		}
		if err := g.saver.Check(ctx, l.restoreCall(g)); err != nil {
			refused.Mismatched = append(refused.Mismatched, Item{Path: g.objects[0].Prefix, Why: fmt.Sprintf("the registered saver %q: %v", g.name, err)})
			refused.causes = append(refused.causes, err)
		}
	}
	if len(refused.Mismatched) > 0 {
		return refused
	}
	return nil
}
