package engine

import (
	"reflect"
	"sync"
)

// Shared is a loop that workers share: its state, and the closure over it that they are
// handed. It is kept from one loop to the next, so that a kernel that runs often makes no
// garbage of either.
type Shared[S any] struct {
	State S // the data of the loop's pieces
	piece func(lo, hi int)
}

// Pieces is the state of a loop whose pieces, indices lo to hi, Piece handles, on several
// goroutines at once.
type Pieces[S any] interface {
	*S
	Piece(lo, hi int)
}

// idleShared keeps them, by the type of their state: a *[sync.Pool] for each.
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
