package image

import (
	"container/heap"
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of NonMaxSuppression and its versions to V5, and the selection
// that CombinedNonMaxSuppression and NonMaxSuppressionWithOverlaps share. The
// order of equal scores decides which boxes stay, so it must be TensorFlow's.

// box is two corners: y and x of each.
type box [4]float32

// normalized returns the box with the smaller coordinates first.
func (b box) normalized() box {
	return box{min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3])}
}

// overlap returns the area of the intersection of two boxes, divided by that of
// their union.
func overlap(a, b box) float32 {
	a, b = a.normalized(), b.normalized()
	sizeA, sizeB := (a[2]-a[0])*(a[3]-a[1]), (b[2]-b[0])*(b[3]-b[1])
	if sizeA <= 0 || sizeB <= 0 {
		return 0
	}
	h := max(min(a[2], b[2])-max(a[0], b[0]), 0)
	w := max(min(a[3], b[3])-max(a[1], b[1]), 0)
	shared := h * w
	return shared / (sizeA + sizeB - shared)
}

// candidate is a box that may be selected.
type candidate struct {
	index int
	score float32
	begin int // the first selected box that it wasn't compared with yet
}

// candidates is a heap: the highest score on top, the first box of equal ones.
type candidates []candidate

func (h candidates) Len() int { return len(h) }
func (h candidates) Less(i, j int) bool {
	return h[i].score > h[j].score || h[i].score == h[j].score && h[i].index < h[j].index
}
func (h candidates) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *candidates) Push(x any)   { *h = append(*h, x.(candidate)) }
func (h *candidates) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// suppression selects boxes, and has the options for that.
type suppression struct {
	most             int     // boxes to select, at most
	overlap, score   float32 // thresholds: the largest overlap, and the score that boxes must exceed
	soft             float32 // the sigma of soft suppression; 0 for hard
	boxes            func(i int) box
	overlapOf        func(i, j int) float32 // of two boxes; replaces boxes if the op has the overlaps as an input
	scores           []float32
	selected         []int
	selectedScores   []float32
	interrupted      func() error // returns an error if the call's context has ended
	comparisonsSince int          // since the last call of interrupted
}

// run selects the best boxes first, but none that overlaps too much with a
// better one. In soft suppression, boxes that overlap have lower scores
// instead.
func (s *suppression) run() error {
	var queue candidates
	for i, v := range s.scores {
		if v > s.score {
			queue = append(queue, candidate{i, v, 0})
		}
	}
	heap.Init(&queue)
	var decay float32
	if s.soft > 0 {
		decay = -0.5 / s.soft
	}
	for len(s.selected) < s.most && len(queue) > 0 {
		next := heap.Pop(&queue).(candidate)
		original, dropped := next.score, false
		for j := len(s.selected) - 1; j >= next.begin && !dropped; j-- {
			if err := s.count(); err != nil {
				return err
			}
			v := s.between(next.index, s.selected[j])
			switch {
			case s.soft != 0:
				next.score *= float32(math.Exp(float64(decay * v * v)))
			case v > s.overlap:
				dropped = true
				continue
			case !(v <= s.overlap): // NaN, of boxes with NaN: the score becomes zero, the box stays
				next.score *= 0
			}
			if next.score <= s.score {
				break
			}
		}
		next.begin = len(s.selected)
		switch {
		case dropped:
		case next.score == original:
			s.selected = append(s.selected, next.index)
			s.selectedScores = append(s.selectedScores, next.score)
		case next.score > s.score:
			heap.Push(&queue, next)
		}
	}
	return nil
}

// runByClass does the work of run for one class of several. Boxes of equal scores have
// another order, and an overlap that is NaN is ignored.
func (s *suppression) runByClass() error {
	var queue queue
	for i, v := range s.scores {
		if v > s.score {
			queue.push(candidate{i, v, 0})
		}
	}
	for len(s.selected) < s.most && len(queue.items) > 0 {
		next := queue.pop()
		dropped := false
		for j := len(s.selected) - 1; j >= 0 && !dropped; j-- {
			if err := s.count(); err != nil {
				return err
			}
			dropped = s.between(next.index, s.selected[j]) > s.overlap
		}
		if !dropped {
			s.selected = append(s.selected, next.index)
			s.selectedScores = append(s.selectedScores, next.score)
		}
	}
	return nil
}

// count counts comparisons, and returns an error if the call's context has
// ended.
func (s *suppression) count() error {
	if s.comparisonsSince++; s.comparisonsSince < 1<<16 {
		return nil
	}
	s.comparisonsSince = 0
	return s.interrupted()
}

// between returns the overlap of two boxes.
func (s *suppression) between(i, j int) float32 {
	if s.overlapOf != nil {
		return s.overlapOf(i, j)
	}
	return overlap(s.boxes(i), s.boxes(j))
}

// scalar returns input i, which must be one float.
func scalar(c *engine.Call, i int) (float32, error) {
	v, err := c.In(i).Float64s()
	if err != nil || len(v) != 1 {
		return 0, fmt.Errorf("input %d is %v%v, not one number", i, c.In(i).DType(), c.In(i).Shape())
	}
	return float32(v[0]), nil
}

// suppress returns the kernel of NonMaxSuppression in one of its versions.
func suppress(version int) func(*engine.Call) error {
	inputs := []int{3, 4, 5, 5, 6}[version-1]
	return func(c *engine.Call) error {
		if err := c.Need(inputs); err != nil {
			return err
		}
		b, scores := c.In(0), c.In(1)
		if n := b.Shape(); len(n) != 2 || n[1] != 4 || len(scores.Shape()) != 1 || scores.Len() != n[0] || b.DType() != scores.DType() || !b.DType().IsFloating() {
			return fmt.Errorf("boxes of %v%v with scores of %v%v", b.DType(), n, scores.DType(), scores.Shape())
		}
		corners, free, err := floats(c, b)
		if err != nil {
			return err
		}
		defer free()
		s := suppression{score: float32(math.Inf(-1)), overlap: float32(c.Attrs().Float("iou_threshold", 0.5)), interrupted: c.Context().Err,
			boxes: func(i int) box { return box(corners[4*i:]) }}
		var freeScores func()
		if s.scores, freeScores, err = floats(c, scores); err != nil {
			return err
		}
		defer freeScores()
		most, err := shapes.Int(c.In(2), "the number of boxes")
		if err != nil {
			return err
		}
		for i, to := range []*float32{&s.overlap, &s.score, &s.soft} {
			if 3+i < inputs {
				if *to, err = scalar(c, 3+i); err != nil {
					return err
				}
			}
		}
		if most < 0 || !(s.overlap >= 0 && s.overlap <= 1) || !(s.soft >= 0) {
			return fmt.Errorf("%d boxes with a threshold of %v and a sigma of %v", most, s.overlap, s.soft)
		}
		s.most = int(min(most, int64(len(s.scores))))
		if err := s.run(); err != nil {
			return err
		}
		return s.outputs(c, version, most)
	}
}

// outputs writes the selected boxes, padded to most if the op's attribute
// requires it. version is that of the NonMaxSuppression op: from 4 on, the number of
// boxes is an output too; in 5, so are their scores.
func (s *suppression) outputs(c *engine.Call, version int, most int64) error {
	n := len(s.selected)
	if c.Attrs().Bool("pad_to_max_output_size") {
		n = int(most)
	}
	out, err := c.AllocZero(0, tensor.Int32, tensor.Shape{n})
	if err != nil {
		return err
	}
	for i, v := range s.selected {
		tensor.Values[int32](out)[i] = int32(v)
	}
	next := 1
	if version == 5 {
		scores, err := c.AllocZero(1, c.In(1).DType(), tensor.Shape{n})
		if err != nil {
			return err
		}
		store(scores, append(s.selectedScores, make([]float32, n-len(s.selectedScores))...))
		next = 2
	}
	if version >= 4 {
		count, err := c.Alloc(next, tensor.Int32, tensor.Shape{})
		if err != nil {
			return err
		}
		tensor.Values[int32](count)[0] = int32(len(s.selected))
	}
	return nil
}
