package gemm

// Axis is one of the dimensions along which a window is moved, or along which
// its runs are arranged: the number of steps, and the length of a step in
// elements of the source and of the destination.
type Axis struct{ N, Src, Dst int }

// Windows describes the left side of a product whose rows are windows of src,
// which may overlap: the implicit matrix of a convolution. kernel/conv passes it to
// [Weights.Slide] and [Correlate]. A window consists of
// runs of contiguous elements, one for each combination of steps of the taps'
// axes. There is a window at each of the positions. The row of a position is
// its runs, one after the other, the last axis moving fastest.
type Windows struct {
	Src, Dst  int     // the offsets of the first window and its output
	Positions [4]Axis // outputs of neighbours along the last one are a fixed step apart
	Taps      [3]Axis // Dst isn't used
	Run       int     // elements of a run
}

func (s *Windows) runs() int { return s.Taps[0].N * s.Taps[1].N * s.Taps[2].N }

// run returns the offset of run i of a window.
func (s *Windows) run(i int) int {
	if s.Taps[2].N == 1 && s.Taps[0].N == 1 {
		return i * s.Taps[1].Src
	}
	x, i := i%s.Taps[2].N, i/s.Taps[2].N
	return x*s.Taps[2].Src + i%s.Taps[1].N*s.Taps[1].Src + i/s.Taps[1].N*s.Taps[0].Src
}

// place returns the offsets of position i in the source and the destination.
func (s *Windows) place(i int) (src, dst int) {
	src, dst = s.Src, s.Dst
	for a := 3; a >= 0; a-- {
		x := i % s.Positions[a].N
		i /= s.Positions[a].N
		src += x * s.Positions[a].Src
		dst += x * s.Positions[a].Dst
	}
	return src, dst
}

// line returns the number of consecutive positions with their outputs a fixed
// step apart: those of the last axis, and of the axes before it that continue
// at the end of the last one.
func (s *Windows) line() int {
	p := &s.Positions
	n := p[3].N
	for a := 2; a >= 0; a-- {
		if p[a].N > 1 && p[a].Dst != n*p[3].Dst {
			break
		}
		n *= p[a].N
	}
	return n
}

// reach returns the first element at which windows begin a run in the source
// and the end of those elements, and the same for their outputs.
func (s *Windows) reach() (lo, hi, dlo, dhi int) {
	lo, hi, dlo, dhi = s.Src, s.Src, s.Dst, s.Dst
	widen := func(lo, hi *int, d int) {
		if d < 0 {
			*lo += d
		} else {
			*hi += d
		}
	}
	for _, a := range &s.Positions {
		widen(&lo, &hi, (a.N-1)*a.Src)
		widen(&dlo, &dhi, (a.N-1)*a.Dst)
	}
	for _, a := range &s.Taps {
		widen(&lo, &hi, (a.N-1)*a.Src)
	}
	return lo, hi, dlo, dhi
}
