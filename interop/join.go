package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/cairnml/cairn/convert"
)

// joinCases merges pairs of checkpoints that TensorFlow wrote into one, their
// object graphs joined as children a and b of a new root. peer/check.py restores
// them into a tf.train.Checkpoint of both.
func joinCases(ctx context.Context, r *run) {
	var wrong []string
	n := 0
	for _, pair := range r.specs.pairs() {
		n++
		src := func(i int) string { return r.tf("graphs", strconv.Itoa(pair[i]), "ckpt") }
		dst := r.ours("joined", fmt.Sprintf("%d-%d", pair[0], pair[1]), "ckpt")
		err := guarded(func() error {
			_, err := convert.Merge(ctx, []string{src(0), src(1)}, dst, &convert.MergeOptions{Join: []string{"a", "b"}})
			return err
		})
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%v: %v", pair, err))
		}
	}
	r.result("pairs of TensorFlow's object graphs are joined", wrong, fmt.Sprintf("%d of %d", n-len(wrong), n))
}

// maxJoined is the greatest number of pairs. peer/check.py restores those that are there.
const maxJoined = 20

// pairs returns the seeds of graphs that TensorFlow can restore below another
// root, two by two, as peer/check.py pairs them too.
func (s *specs) pairs() [][2]int {
	var able []int
	for _, g := range s.Graphs {
		if g.TFRestores && g.Style != "both" {
			able = append(able, g.Seed)
		}
	}
	var out [][2]int
	for i := 0; i+1 < len(able) && len(out) < maxJoined; i += 2 {
		out = append(out, [2]int{able[i], able[i+1]})
	}
	return out
}
