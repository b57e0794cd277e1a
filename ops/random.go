package ops

import (
	"errors"
	"math/rand/v2"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Random is a generator of random numbers: TensorFlow's Philox algorithm over
// an explicit state, so that the same seed produces the same numbers as
// tf.random.Generator.from_seed. Each op advances the state. The state is a
// variable. In an object graph it is saved and restored, so a resumed training
// run continues the sequence.
//
// A Random may be shared by goroutines; which one gets which numbers is then
// not fixed.
type Random struct {
	// State is the 128-bit counter, low half first, and the key: int64[3]. A seed
	// is the counter's start.
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

// next takes as many numbers of the generator as an output of the shape needs.
func (s *Scope) next(op string, r *Random, shape *Value) (key, counter *Value) {
	if !s.alive() {
		return s.failed(), s.failed()
	}
	if r == nil || r.State == nil {
		s.fail(op, nil, errNoRandom)
		return s.failed(), s.failed()
	}
	// As in tf.random.Generator.skip, the op advances the counter by 256 for each output,
	// whatever the distribution needs. So the state is TensorFlow's afterwards.
	old := s.Emit1("RngReadAndSkip", nil, s.handleOf(r.State), s.sizes(tensor.Scalar(int32(algPhilox))), s.numElements(op, shape))
	return SliceOf(s, old, []int{2}, []int{1}).asKey(s), SliceOf(s, old, []int{0}, []int{2}).asKey(s)
}

// numElements returns how many elements an output of the shape has, as a
// uint64.
func (s *Scope) numElements(op string, shape *Value) *Value {
	dims, known, err := shape.Fact().AsShape()
	if err != nil {
		return s.Fail(op, err)
	}
	if whole, ok := dims.Tensor(); known && ok {
		n, err := whole.NumElements()
		if err != nil {
			return s.Fail(op, err)
		}
		return s.sizes(tensor.Scalar(uint64(n)))
	}
	return asSizes(Cast(s, Prod(s, Cast(s, shape, tensor.Int64)), tensor.Uint64))
}

// asKey views int64 state as the uint64 that the random ops take.
func (v *Value) asKey(s *Scope) *Value {
	return s.Emit1("Bitcast", graph.Attrs{graph.Type("type", tensor.Uint64)}, v)
}

func (s *Scope) random(op string, r *Random, d tensor.DType, shape *Value, bounds ...Input) *Value {
	key, counter := s.next(op, r, shape)
	if !s.alive() {
		return s.failed()
	}
	in := append([]Input{shape, key, counter, s.scalar32(algPhilox)}, bounds...)
	return s.Emit1(op, graph.Attrs{graph.Type("dtype", d)}, in...)
}

// RandomUniform draws random numbers of type d, a floating one, evenly from 0
// up to but not including 1.
func RandomUniform(s *Scope, r *Random, d tensor.DType, dims ...int) *Value {
	return s.random("StatelessRandomUniformV2", r, d, s.vec32(dims...))
}

// RandomNormal draws random numbers of type d from the normal distribution with
// mean 0 and standard deviation 1.
func RandomNormal(s *Scope, r *Random, d tensor.DType, dims ...int) *Value {
	return s.random("StatelessRandomNormalV2", r, d, s.vec32(dims...))
}

// RandomTruncatedNormal draws as [RandomNormal] does; numbers more than two
// standard deviations from the mean are drawn again.
func RandomTruncatedNormal(s *Scope, r *Random, d tensor.DType, dims ...int) *Value {
	return s.random("StatelessTruncatedNormalV2", r, d, s.vec32(dims...))
}

// RandomInt draws random integers of type d (int32, int64, uint32 or uint64)
// from lo up to but not including hi.
func RandomInt(s *Scope, r *Random, d tensor.DType, lo, hi Input, dims ...int) *Value {
	return s.randomInt(r, d, lo, hi, s.vec32(dims...))
}

// RandomBits draws random integers of type d (int32, int64, uint32 or uint64) from its
// whole range.
func RandomBits(s *Scope, r *Random, d tensor.DType, dims ...int) *Value {
	return s.random("StatelessRandomUniformFullIntV2", r, d, s.vec32(dims...))
}

func (s *Scope) randomInt(r *Random, d tensor.DType, lo, hi Input, shape *Value) *Value {
	return s.random("StatelessRandomUniformIntV2", r, d, shape, s.cast(lo, d), s.cast(hi, d))
}

// RandomUniformLike draws as [RandomUniform] does, in a tensor of x's type and
// shape.
func RandomUniformLike(s *Scope, r *Random, x Input) *Value {
	return s.randomLike("StatelessRandomUniformV2", r, x)
}

// RandomNormalLike draws as [RandomNormal] does, in a tensor of x's type and
// shape.
func RandomNormalLike(s *Scope, r *Random, x Input) *Value {
	return s.randomLike("StatelessRandomNormalV2", r, x)
}

func (s *Scope) randomLike(op string, r *Random, x Input) *Value {
	if shape, ok := s.shapeOf(x).Tensor(); ok {
		return s.random(op, r, s.typeOf(x), s.vec32(shape...))
	}
	return s.random(op, r, s.typeOf(x), asSizes(Shape(s, x)))
}

// Shuffle puts the slices of x along its first dimension in random order: that of random
// integers, sorted. tf.random.shuffle has another order for a seed.
func Shuffle(s *Scope, r *Random, x Input) *Value {
	x = Const(s, x)
	if s.shapeOf(x).Rank() == 0 {
		return s.Fail("Shuffle", errors.New("needs an input of at least one dimension"))
	}
	n := s.dim(x, 0)
	draws := s.randomInt(r, tensor.Int64, int64(-1<<62), int64(1<<62), ExpandDims(s, n, 0))
	_, order := s.topK(draws, n)
	return Gather(s, x, order)
}
