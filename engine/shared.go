package engine

import (
	"reflect"
	"sync"
)

// Shared is a loop for [Call.Parallel]: its state, and the function over its pieces. Both
// are kept for later loops, so that a kernel that runs often makes no garbage.
type Shared[S any] struct {
	State S // the data of the loop's pieces
	piece func(lo, hi int)
}

// Pieces is the state of a loop. Piece does the indices from lo up to hi, exclusive. It runs
// on several goroutines at once.
type Pieces[S any] interface {
	*S
	Piece(lo, hi int)
}

// idleShared keeps the idle loops: a *[sync.Pool] for each type of state.
var idleShared sync.Map

// Share returns a loop, to be given back by [Shared.Free]. Its state is that of an earlier
// one, or zero.
func Share[S any, P Pieces[S]]() *Shared[S] {
	s, _ := idleOf[S]().Get().(*Shared[S])
	if s == nil {
		s = new(Shared[S])
		s.piece = P(&s.State).Piece
	}
	return s
}

// Parallel runs the loop's n indices, of roughly ns nanoseconds each, as
// [Call.Parallel] does.
func (s *Shared[S]) Parallel(c *Call, n int, ns float64) { c.Parallel(n, ns, s.piece) }

// Free keeps the loop for a later one. Its state stays, so the caller clears
// the parts that must not be kept.
func (s *Shared[S]) Free() { idleOf[S]().Put(s) }

func idleOf[S any]() *sync.Pool {
	key := reflect.TypeFor[S]()
	if p, ok := idleShared.Load(key); ok {
		return p.(*sync.Pool)
	}
	p, _ := idleShared.LoadOrStore(key, new(sync.Pool))
	return p.(*sync.Pool)
}
