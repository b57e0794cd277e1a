package keras

import (
	"context"
	"math/rand/v2"
	"sync"
)

type seedKey struct{}

// seeded is a generator that a context carries; calls may share it.
type seeded struct {
	mu sync.Mutex
	r  *rand.Rand
}

// WithSeed returns a context under which layers draw their first values from a
// generator with this seed, in the order in which they are built: the same
// program then makes the same model. Initializers with a seed of their own
// aren't touched. Without it every run differs.
func WithSeed(ctx context.Context, seed uint64) context.Context {
	return context.WithValue(ctx, seedKey{}, &seeded{r: rand.New(rand.NewPCG(seed, 0))})
}

// withRand calls f with the random state of the call.
func withRand(ctx context.Context, f func(r *rand.Rand)) {
	s, ok := ctx.Value(seedKey{}).(*seeded)
	if !ok {
		f(rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.r)
}
