package shape

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// TestKnownTermsTakeWhatTheRuleSays holds the short way through a StridedSlice to the
// rule that knows everything.
func TestKnownTermsTakeWhatTheRuleSays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	elems := func(v []int32) (out []graph.Elem) {
		for _, x := range v {
			out = append(out, graph.ElemOf(int64(x)))
		}
		return out
	}
	taken, refused, left := 0, 0, 0
	for range 20_000 {
		s := make(tensor.Shape, r.IntN(5))
		for i := range s {
			s[i] = r.IntN(5)
		}
		n := r.IntN(len(s) + 2)
		list := func(from, span int) []int32 {
			v := make([]int32, n)
			for i := range v {
				v[i] = int32(from + r.IntN(span))
			}
			return v
		}
		begin, end, stride := list(-6, 13), list(-6, 13), list(-2, 6)
		bits := func(often int) (m int64) {
			for i := range 4 {
				if r.IntN(often) == 0 {
					m |= 1 << i
				}
			}
			return m
		}
		m := Masks{BeginMask: bits(4), EndMask: bits(4), Ellipsis: bits(40), NewAxis: bits(40), ShrinkAxis: bits(5)}
		var b Small
		known, err := m.Known(&b, s, begin, end, stride)
		if !known {
			left++
			continue
		}
		st := Strided{Begin: elems(begin), End: elems(end), Stride: elems(stride), Masks: m}
		want, wantErr := st.Of(s)
		if (err != nil) != (wantErr != nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("%v[%v:%v:%v] %+v: %v, the rule says %v", s, begin, end, stride, m, err, wantErr)
		}
		if err != nil {
			refused++
			continue
		}
		taken++
		got := [][]int{b.Begin[:b.Dims], b.Step[:b.Dims], b.Size[:b.Dims], b.Out[:b.Outs]}
		for i, w := range [][]int{want.Begin, want.Step, want.Size, want.Out} {
			if !slices.Equal(got[i], w) {
				t.Fatalf("%v[%v:%v:%v] %+v: %v, the rule says %+v", s, begin, end, stride, m, got, want)
			}
		}
	}
	if taken < 1000 || refused < 1000 || left < 100 {
		t.Errorf("%d slices were compared, %d errors, %d were left to the rule", taken, refused, left)
	}
}
