package simd

// Pool is a row of windows over images with the channels last. kernel/conv passes it
// to vec.MaxPool and vec.MaxPoolGrad. The elements of a window are:
//
//	for p in [0, Places), c in [0, Channels):
//		x[p*Step+Taps[t]+c] // for tap t of place p
//
// The results of the places are contiguous, Channels elements each. There is at
// least one tap, and no number is negative. Offsets and steps count elements.
type Pool struct {
	Taps         []int
	Places, Step int
	Channels     int
}

// Check panics if the row leads out of the slices' lengths.
func (p *Pool) Check(image, places int) {
	last := 0
	for _, t := range p.Taps {
		if t < 0 {
			last = image
		}
		last = max(last, t)
	}
	if len(p.Taps) == 0 || p.Places < 1 || p.Step < 0 || p.Channels < 0 || p.Places*p.Channels > places || (p.Places-1)*p.Step+last+p.Channels > image {
		panic("BUG: simd: the windows lead out of the image")
	}
}
