package base

import (
	"math/rand/v2"
	"sync"

	"github.com/cairnml/cairn/internal/numpyrand"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/ops"
)

type seedKey struct{}

// seeded has the generators of one [WithSeed]. The scopes made of its scope share them, in
// several goroutines too.
type seeded struct {
	mu    sync.Mutex
	first *rand.Rand // of first values
	noise *rand.Rand // of everything else, such as dropout
}

// WithSeed returns a scope of the same call on which layers draw their first values from a generator with this
// seed, in the order in which they are built: the same program then makes the same model. The values are those of
// tf_keras after tf_keras.utils.set_random_seed(seed), if the same layers are built in the same order.
// Initializers with their own seed aren't affected. Each WithSeed begins anew, so that layers which are built in
// two calls draw the same numbers. Without it every run differs.
//
//	func (t *Training) step(s *ops.Scope, b Batch) *ops.Value {
//		s = keras.WithSeed(s.WithTraining(true), 1)
func WithSeed(s *ops.Scope, seed uint64) *ops.Scope {
	return s.With(seedKey{}, &seeded{first: rand.New(numpyrand.Python(seed)), noise: rand.New(rand.NewPCG(seed, 0))})
}

// WithRand calls f with the random state of the scope that layers draw noise from. The
// first values of variables have another one.
func WithRand(s *ops.Scope, f func(r *rand.Rand)) {
	withRand(s, func(g *seeded) *rand.Rand { return g.noise }, f)
}

// DrawSeed returns a seed as tf_keras draws those of random layers without one: from the
// generator of first values, a number from 1 to 1e9.
func DrawSeed(s *ops.Scope) (seed int) {
	withRand(s, func(g *seeded) *rand.Rand { return g.first }, func(r *rand.Rand) { seed = initializers.DrawSeed(r) })
	return seed
}

// withRand calls f with a generator of the scope, locked, or with a new random one if the scope
// has no seed.
func withRand(s *ops.Scope, of func(g *seeded) *rand.Rand, f func(r *rand.Rand)) {
	g, ok := s.Value(seedKey{}).(*seeded)
	if !ok {
		f(rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	f(of(g))
}
