package ops

import (
	"errors"
	"math/rand/v2"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Random is a generator of random numbers: TensorFlow's Philox algorithm over
// an explicit state, so that the same seed gives the same numbers as
// tf.random.Generator.from_seed. Each op moves the state on. The state is a
// variable; in an object graph it is saved and restored, and a training run
// that resumes goes on where it was.
//
// A Random may be shared by goroutines; which one gets which numbers is then
// not fixed.
type Random struct {
	// State is the 128-bit counter, low half first, and the key: int64[3]. A seed
	// is where the counter starts.
	State *trackable.Variable `cairn:"_state_var"`
}

// NewRandom makes a generator from a seed.
func NewRandom(seed uint64) *Random {
	state := tensor.Must(tensor.New([]int64{int64(seed), 0, 0}, 3))
	return &Random{State: trackable.NewVariable(state).Named("StateVar").SetTrainable(false)}
}

// NewRandomFromEntropy makes a generator that differs from run to run.
func NewRandomFromEntropy() *Random { return NewRandom(rand.Uint64()) }

// algPhilox is TensorFlow's number for the Philox algorithm.
const algPhilox = 1

var errNoRandom = errors.New("needs a generator: the *ops.Random is nil; ops.NewRandom(seed) makes one")

// next takes as many numbers of the generator as n outputs need.
func (s *Scope) next(op string, r *Random, shape []int) (key, counter *Value) {
	if !s.alive() {
		return s.failed(), s.failed()
	}
	if r == nil || r.State == nil {
		s.fail(op, nil, errNoRandom)
		return s.failed(), s.failed()
	}
	n, err := tensor.Shape(shape).NumElements()
	if err != nil {
		s.fail(op, nil, err)
		return s.failed(), s.failed()
	}
	// Generator.skip advances by the number of outputs times 256, whatever the
	// distribution needs: the same state as TensorFlow's afterwards.
	old := s.Emit1("RngReadAndSkip", nil, s.handleOf(r.State),
		s.sizes(tensor.Scalar(int32(algPhilox))), s.sizes(tensor.Scalar(uint64(n))))
	return SliceOf(s, old, []int{2}, []int{1}).asKey(s), SliceOf(s, old, []int{0}, []int{2}).asKey(s)
}

// asKey views int64 state as the uint64 that the random ops take.
func (v *Value) asKey(s *Scope) *Value {
	return s.Emit1("Bitcast", graph.Attrs{graph.Type("type", tensor.Uint64)}, v)
}

func (s *Scope) random(op string, r *Random, d tensor.DType, shape []int) *Value {
	key, counter := s.next(op, r, shape)
	if !s.alive() {
		return s.failed()
	}
	return s.Emit1(op, graph.Attrs{graph.Type("dtype", d)},
		s.vec32(shape...), key, counter, s.scalar32(algPhilox))
}

// RandomUniform is random numbers of type d, a floating one, evenly from 0 up
// to but not including 1.
func RandomUniform(s *Scope, r *Random, d tensor.DType, dims ...int) *Value {
	return s.random("StatelessRandomUniformV2", r, d, dims)
}

// RandomNormal is random numbers of type d from the normal distribution with
// mean 0 and standard deviation 1.
func RandomNormal(s *Scope, r *Random, d tensor.DType, dims ...int) *Value {
	return s.random("StatelessRandomNormalV2", r, d, dims)
}

// RandomTruncatedNormal is [RandomNormal] in which what lies more than two
// standard deviations from the mean is drawn again.
func RandomTruncatedNormal(s *Scope, r *Random, d tensor.DType, dims ...int) *Value {
	return s.random("StatelessTruncatedNormalV2", r, d, dims)
}

// RandomInt is random integers of type d (int32, int64, uint32 or uint64) from
// lo up to but not including hi.
func RandomInt(s *Scope, r *Random, d tensor.DType, lo, hi Input, dims ...int) *Value {
	key, counter := s.next("StatelessRandomUniformIntV2", r, dims)
	if !s.alive() {
		return s.failed()
	}
	return s.Emit1("StatelessRandomUniformIntV2", graph.Attrs{graph.Type("dtype", d)},
		s.vec32(dims...), key, counter, s.scalar32(algPhilox), s.cast(lo, d), s.cast(hi, d))
}

// Shuffle is x with its slices along the first dimension in random order.
func Shuffle(s *Scope, r *Random, x Input) *Value {
	x = Const(s, x)
	shape := shapeOf(x)
	if len(shape) == 0 {
		return s.Fail("Shuffle", errors.New("needs an input of at least one dimension"))
	}
	n := shape[0]
	draws := RandomInt(s, r, tensor.Int64, int64(-1<<62), int64(1<<62), n)
	_, order := TopK(s, draws, n)
	return Gather(s, x, order)
}
