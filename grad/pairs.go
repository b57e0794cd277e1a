package grad

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
)

// pairs remembers the pairs of functions, by the first function that a call may
// run, as long as that exists.
var pairs struct {
	sync.Mutex
	of map[weak.Pointer[graph.Function]][]pairEntry
}

type pairEntry struct {
	fs      []weak.Pointer[graph.Function]
	rules   *Rules
	kernels *engine.KernelSet
	tracked []bool
	pair    *pair
}

// maxDepth is how deep functions may call each other that are differentiated.
const maxDepth = 64

var errDepth = errors.New("functions call each other too deep, or without end")

// pairOf returns the pair of functions, made if there is none yet.
func (t *Tape) pairOf(fs []*graph.Function, facts []graph.Fact, tracked []bool) (*pair, error) {
	if t.depth >= maxDepth {
		return nil, errDepth
	}
	e := pairEntry{rules: t.rules, kernels: t.scope.Kernels(), tracked: tracked}
	for _, f := range fs {
		e.fs = append(e.fs, weak.Make(f))
	}
	key := e.fs[0]
	find := func() *pair {
		for _, o := range pairs.of[key] {
			if o.rules == t.rules && o.kernels == e.kernels && slices.Equal(o.tracked, tracked) && slices.Equal(o.fs, e.fs) {
				return o.pair
			}
		}
		return nil
	}
	pairs.Lock()
	p := find()
	pairs.Unlock()
	if p != nil {
		return p, nil
	}
	p, err := t.newPair(fs, facts, tracked) // may need other pairs itself
	if err != nil {
		return nil, err
	}
	e.pair = p
	pairs.Lock()
	defer pairs.Unlock()
	if other := find(); other != nil {
		return other, nil
	}
	if pairs.of == nil {
		pairs.of = map[weak.Pointer[graph.Function]][]pairEntry{}
	}
	if len(pairs.of[key]) == 0 {
		runtime.AddCleanup(fs[0], func(key weak.Pointer[graph.Function]) {
			pairs.Lock()
			defer pairs.Unlock()
			delete(pairs.of, key)
		}, key)
	}
	pairs.of[key] = append(pairs.of[key], e)
	return p, nil
}
