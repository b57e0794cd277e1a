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

// pairs remembers the derivatives of functions, by the first function that a call may
// run, as long as that exists.
var pairs struct {
	sync.Mutex
	of map[weak.Pointer[graph.Function]][]pairEntry
}

type pairEntry struct {
	fs      []weak.Pointer[graph.Function]
	rules   *Rules // without the function library
	kernels *engine.KernelSet
	tracked []bool // by argument: whether the tape follows it
	outer   []outerKey
	loop    bool // the functions are a loop's, not branches
	made    derivative
}

// maxDepth is how deep functions may call each other that are differentiated.
const maxDepth = 64

var errDepth = errors.New("functions call each other too deep, or without end")

// derivativeOf returns the derivative of a call of functions, made if there is
// none yet.
func (t *Tape) derivativeOf(loop bool, fs []*graph.Function, first int, facts []graph.Fact, tracked []bool, outer []graph.Output) (derivative, error) {
	if t.depth >= maxDepth {
		return nil, errDepth
	}
	e := pairEntry{rules: t.rules.root(), kernels: t.scope.Kernels(), tracked: tracked, outer: keysOf(outer), loop: loop}
	for _, f := range fs {
		e.fs = append(e.fs, weak.Make(f))
	}
	key := e.fs[0]
	find := func() derivative {
		for _, o := range pairs.of[key] {
			if o.loop == loop && o.rules == e.rules && o.kernels == e.kernels && slices.Equal(o.tracked, tracked) && slices.Equal(o.outer, e.outer) && slices.Equal(o.fs, e.fs) {
				return o.made
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
	// Making it may need others.
	var err error
	if loop {
		e.made, err = t.newLoop(fs[0], fs[1], facts, tracked, outer)
	} else {
		e.made, err = t.newPair(fs, first, facts, tracked, outer)
	}
	if err != nil {
		return nil, err
	}
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
	return e.made, nil
}
