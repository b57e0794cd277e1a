package random

import (
	"bufio"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/draws"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of the candidate samplers and of ComputeAccidentalHits. The words
// of each draw and the roundings are those of TensorFlow's range_sampler.cc;
// they must stay, because a seed decides the classes.

// candidates are the ops that draw classes for training by samples, and that
// find the true classes among them.
var candidates = []engine.Kernel{
	{Op: "UniformCandidateSampler", Prepare: sampling(rangeMax, uniformClasses), Precision: engine.Rounded},
	{Op: "LogUniformCandidateSampler", Prepare: sampling(rangeMax, logUniformClasses), Precision: engine.Rounded},
	{Op: "LearnedUnigramCandidateSampler", Prepare: sampling(rangeMax, learnedClasses), Precision: engine.Rounded},
	{Op: "ThreadUnsafeUnigramCandidateSampler", Prepare: sampling(rangeMax, learnedClasses), Precision: engine.Rounded},
	{Op: "FixedUnigramCandidateSampler", Prepare: sampling(rangeMax, fixedClasses), Precision: engine.Rounded},
	{Op: "AllCandidateSampler", Prepare: sampling(numSampled, allClasses)},
	{Op: "ComputeAccidentalHits", Run: accidentalHits},
}

// classes is a distribution of classes.
type classes struct {
	draw        func(s *draws.Stream) int64
	probability func(class int64) float32
	// possible is the number of classes that can be drawn.
	possible int64
	// learn gets the true classes of each call; nil if the distribution is
	// fixed.
	learn func(classes []int64)
	// all is set if all classes are drawn, in order.
	all bool
}

// sampled is the state of a sampler's node. The lock guards the distribution, which
// may learn.
type sampled struct {
	*draws.State
	mu      sync.Mutex
	classes *classes
}

// rangeMax returns the number of classes of most samplers.
func rangeMax(n *engine.Node) int64 { return n.Attrs.Int("range_max", 0) }

// numSampled returns the number of classes to draw, which is also
// AllCandidateSampler's number of classes.
func numSampled(n *engine.Node) int64 { return n.Attrs.Int("num_sampled", 0) }

// sampling prepares an op that draws classes of a distribution.
func sampling(of func(*engine.Node) int64, make func(c *engine.Call, n int64) (*classes, error)) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		size, count, perRow := of(n), numSampled(n), n.Attrs.Int("num_true", 0)
		unique := n.Attrs.Bool("unique")
		if size <= 0 || count <= 0 || perRow <= 0 {
			return nil, fmt.Errorf("range_max, num_sampled and num_true are %d, %d and %d, not above 0", size, count, perRow)
		}
		if unique && count > size {
			return nil, fmt.Errorf("%d different classes of %d can't be drawn", count, size)
		}
		return func(c *engine.Call) error {
			if err := c.Need(1); err != nil {
				return err
			}
			return sample(c, size, int(count), int(perRow), unique, make)
		}, nil
	}
}

// sample draws count classes of size, for true classes in input 0 of shape
// [batch, perRow]. Outputs are the classes [count], the expected numbers of the
// true classes, and those of the drawn ones. It learns after the draw, as
// TensorFlow does.
func sample(c *engine.Call, size int64, count, perRow int, unique bool, make func(c *engine.Call, n int64) (*classes, error)) error {
	truth := c.In(0)
	s := truth.Shape()
	if truth.DType() != tensor.Int64 || len(s) != 2 || s[1] != perRow {
		return fmt.Errorf("the true classes are %v%v, not int64[?,%d]", truth.DType(), s, perRow)
	}
	for _, class := range tensor.Values[int64](truth) {
		if class < 0 || class >= size {
			return fmt.Errorf("true class %d isn't from 0 to %d", class, size-1)
		}
	}
	drawn, err := c.Alloc(0, tensor.Int64, tensor.Shape{count})
	if err != nil {
		return err
	}
	expectedTrue, err := c.Alloc(1, tensor.Float32, s)
	if err != nil {
		return err
	}
	expected, err := c.Alloc(2, tensor.Float32, tensor.Shape{count})
	if err != nil {
		return err
	}
	st := c.NodeState(func() any { return &sampled{State: draws.New(c.Node())} }).(*sampled)
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.classes == nil {
		if st.classes, err = make(c, size); err != nil {
			return err
		}
	}
	k := st.classes
	if unique && int64(count) > k.possible {
		return fmt.Errorf("%d different classes of %d that have a weight can't be drawn", count, k.possible)
	}
	g := st.Reserve(uint64(count) * 2048 / 4)
	dst := tensor.Values[int64](drawn)
	tries, err := k.fill(c, dst, draws.NewStream(g), unique)
	if err != nil {
		return err
	}
	for i, class := range dst {
		tensor.Values[float32](expected)[i] = k.expected(class, count, tries)
	}
	for i, class := range tensor.Values[int64](truth) {
		tensor.Values[float32](expectedTrue)[i] = k.expected(class, count, tries)
	}
	if k.learn != nil {
		k.learn(tensor.Values[int64](truth))
	}
	return nil
}

// fill sets dst to drawn classes, which are different if unique is set. It
// returns the number of draws.
func (k *classes) fill(c *engine.Call, dst []int64, words *draws.Stream, unique bool) (tries int, err error) {
	if k.all {
		for i := range dst {
			dst[i] = int64(i)
		}
		return len(dst), nil
	}
	seen := map[int64]bool{}
	for n := 0; n < len(dst); tries++ {
		if tries%4096 == 0 && c.Context().Err() != nil {
			return 0, c.Context().Err()
		}
		if tries == math.MaxInt32 {
			return 0, fmt.Errorf("%d draws produced only %d different classes", tries, n)
		}
		class := k.draw(words)
		if unique {
			if seen[class] {
				continue
			}
			seen[class] = true
		}
		dst[n] = class
		n++
	}
	return tries, nil
}

// expected returns the expected number of a class among count classes, which
// took so many draws.
func (k *classes) expected(class int64, count, tries int) float32 {
	if k.all {
		return 1
	}
	p := k.probability(class)
	if tries == count {
		return p * float32(count)
	}
	return -float32(math.Expm1(float64(float32(tries) * float32(math.Log1p(float64(-p))))))
}

// allClasses returns the distribution of AllCandidateSampler.
func allClasses(_ *engine.Call, n int64) (*classes, error) {
	return &classes{possible: n, all: true}, nil
}

// uniformClasses returns the distribution of UniformCandidateSampler.
func uniformClasses(_ *engine.Call, n int64) (*classes, error) {
	p := float32(1 / float64(n))
	return &classes{
		draw:        func(s *draws.Stream) int64 { return int64(s.Below64(uint64(n))) },
		probability: func(int64) float32 { return p },
		possible:    n,
	}, nil
}

// logUniformClasses draws small numbers more often, because words are numbered
// by frequency.
func logUniformClasses(_ *engine.Call, n int64) (*classes, error) {
	log := math.Log1p(float64(n))
	return &classes{
		draw: func(s *draws.Stream) int64 { return (int64(math.Exp(s.Float64()*log)) - 1) % n },
		probability: func(class int64) float32 {
			return float32(math.Log((float64(class)+2)/(float64(class)+1)) / log)
		},
		possible: n,
	}, nil
}

// learnedClasses draws classes in proportion to 1 plus the number of times they
// were true.
func learnedClasses(_ *engine.Call, n int64) (*classes, error) {
	if n >= math.MaxInt32 {
		return nil, fmt.Errorf("%d classes are too many to learn", n)
	}
	w := &weights{n: uint32(n), total: uint32(n), more: map[uint32]uint32{}, sums: map[uint32]uint32{}}
	return &classes{
		draw:        func(s *draws.Stream) int64 { return int64(w.pick(s.Below32(w.total))) },
		probability: func(class int64) float32 { return float32(w.more[uint32(class)]+1) / float32(w.total) },
		possible:    n,
		learn: func(classes []int64) {
			for _, class := range classes {
				if w.total < math.MaxInt32 {
					w.add(uint32(class))
				}
			}
		},
	}, nil
}

// weights are those of n classes: 1 plus more. sums is a Fenwick tree over
// more, without zeros.
type weights struct {
	n, total   uint32
	more, sums map[uint32]uint32
}

// add adds 1 to the weight of class.
func (w *weights) add(class uint32) {
	w.more[class]++
	w.total++
	for i := class + 1; i <= w.n; i += i & -i {
		w.sums[i]++
	}
}

// pick returns the class at a position in the sum of all weights.
func (w *weights) pick(at uint32) uint32 {
	var class uint32
	for step := uint32(1) << 31; step > 0; step /= 2 {
		if next := class + step; next > class && next <= w.n && step+w.sums[next] <= at {
			class, at = next, at-step-w.sums[next]
		}
	}
	return class
}

// fixedClasses draws by the weights in attributes or a file.
func fixedClasses(c *engine.Call, n int64) (*classes, error) {
	attrs := c.Attrs()
	shards, shard := attrs.Int("num_shards", 1), attrs.Int("shard", 0)
	reserved := attrs.Int("num_reserved_ids", 0)
	if shards <= 0 || shard < 0 || shard >= shards || reserved < 0 || reserved > math.MaxInt32 || (reserved-1-shard)/shards >= n {
		return nil, fmt.Errorf("shard %d of %d with %d reserved classes isn't one of %d classes", shard, shards, reserved, n)
	}
	c.Fits(int(min(reserved/shards, math.MaxInt32))+1, 8)
	var weights []float32
	for id := int64(0); id < reserved; id++ {
		if id%shards == shard {
			weights = append(weights, 0)
		}
	}
	id := int64(len(weights))
	var total float32
	possible := int64(0)
	distortion := float64(float32(attrs.Float("distortion", 1)))
	add := func(x float32) error {
		if id++; (id-1)%shards != shard {
			return nil
		}
		x = float32(math.Pow(float64(x), distortion))
		if int64(len(weights)) == n {
			return fmt.Errorf("there are more weights than the %d of range_max", n)
		}
		if !(x >= 0) || math.IsInf(float64(x), 1) {
			return fmt.Errorf("the weight of class %d is %v", len(weights), x)
		}
		if x > 0 {
			possible++
		}
		total += x
		weights = append(weights, x)
		return nil
	}
	if err := eachWeight(c, add); err != nil {
		return nil, err
	}
	if int64(len(weights)) != n || possible == 0 {
		return nil, fmt.Errorf("there are %d weights, %d of them above 0, and range_max is %d", len(weights), possible, n)
	}
	return &classes{
		draw:        newAlias(weights).draw,
		probability: func(class int64) float32 { return weights[class] / total },
		possible:    possible,
	}, nil
}

// eachWeight calls f with the weights in a sampler's attribute, or with the
// last fields of the lines of a file.
func eachWeight(c *engine.Call, f func(float32) error) error {
	name, list := c.Attrs().String("vocab_file", ""), c.Attrs().Floats("unigrams")
	if (name == "") == (len(list) == 0) {
		return fmt.Errorf("needs either vocab_file or unigrams")
	}
	for _, x := range list {
		if err := f(float32(x)); err != nil {
			return err
		}
	}
	if name == "" {
		return nil
	}
	fsys, place, err := c.Reading(name)
	if err != nil {
		return err
	}
	file, err := fsys.Open(place)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it is only read
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if c.Context().Err() != nil {
			return c.Context().Err()
		}
		field := lines.Text()[strings.LastIndexByte(lines.Text(), ',')+1:]
		x, err := strconv.ParseFloat(strings.TrimSpace(field), 32)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := f(float32(x)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return lines.Err()
}

// alias draws by weights with one comparison a draw (Walker). The slot of a
// class is divided between this class and another one.
type alias struct {
	part  []float32
	other []int32
}

// newAlias builds the slots in the order of TensorFlow's
// distribution_sampler.cc; another order would change draws.
func newAlias(weights []float32) *alias {
	n := len(weights)
	a := &alias{make([]float32, n), make([]int32, n)}
	sum := 0.0
	for _, w := range weights {
		sum += float64(w)
	}
	part := make([]float64, n)
	var high, low []int32
	sort := func(i int32) {
		if part[i] < 1 {
			low = append(low, i)
		} else {
			high = append(high, i)
		}
	}
	for i, w := range weights {
		part[i] = float64(w*float32(n)) / sum
		sort(int32(i))
	}
	for len(high) > 0 && len(low) > 0 {
		l, h := low[len(low)-1], high[len(high)-1]
		low, high = low[:len(low)-1], high[:len(high)-1]
		a.other[l] = h
		part[h] -= 1 - part[l]
		sort(h)
	}
	for i, p := range part {
		a.part[i] = float32(p)
	}
	for _, i := range append(high, low...) { // 1, except for rounding
		a.part[i], a.other[i] = 1, i
	}
	return a
}

// draw draws a class by two words of s or more.
func (a *alias) draw(s *draws.Stream) int64 {
	x := s.Float32()
	i := s.Below32(uint32(len(a.part)))
	if x < a.part[i] {
		return int64(i)
	}
	return int64(a.other[i])
}

// accidentalHits finds the drawn classes that are true classes of a row.
func accidentalHits(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	truth, drawn := c.In(0), c.In(1)
	s := truth.Shape()
	if truth.DType() != tensor.Int64 || drawn.DType() != tensor.Int64 || len(s) != 2 || int64(s[1]) != c.Attrs().Int("num_true", 0) || len(drawn.Shape()) != 1 {
		return fmt.Errorf("true classes %v%v and drawn ones %v%v don't go together", truth.DType(), s, drawn.DType(), drawn.Shape())
	}
	place := make(map[int64]int64, drawn.Len())
	for i, class := range tensor.Values[int64](drawn) {
		place[class] = int64(i)
	}
	var rows []int32
	var ids []int64
	var weights []float32
	for i, class := range tensor.Values[int64](truth) {
		if at, ok := place[class]; ok {
			rows, ids, weights = append(rows, int32(i/s[1])), append(ids, at), append(weights, -math.MaxFloat32)
		}
	}
	c.Set(0, tensor.Vector(rows...))
	c.Set(1, tensor.Vector(ids...))
	c.Set(2, tensor.Vector(weights...))
	return nil
}
