package image

import "math"

// The weights of resizing along a line, for resize.go; kernel/quant uses
// Bilinear.

// taps has, for each pixel of an output line, the pixels of the input line that
// contribute to it, and their weights.
type taps struct {
	first  []int // the taps of pixel i are those from first[i] up to first[i+1]
	index  []int
	weight []float32
}

// add adds a tap to the pixel that isn't ended.
func (t *taps) add(index int, weight float32) {
	t.index, t.weight = append(t.index, index), append(t.weight, weight)
}

// end ends the taps of a pixel.
func (t *taps) end() { t.first = append(t.first, len(t.index)) }

// of returns the taps of pixel i.
func (t *taps) of(i int) ([]int, []float32) {
	return t.index[t.first[i]:t.first[i+1]], t.weight[t.first[i]:t.first[i+1]]
}

// line is the resizing of a line from in to out pixels.
type line struct {
	in, out          int
	corners, centers bool // align_corners, half_pixel_centers
}

// scale returns the distance in the input between neighbours of the output, in
// pixels.
func (l line) scale() float32 {
	if l.corners && l.out > 1 {
		return float32(l.in-1) / float32(l.out-1)
	}
	return float32(l.in) / float32(l.out)
}

// at returns the position of the output's pixel i in the input.
func (l line) at(i int) float32 {
	if l.centers {
		return float32((float32(i)+0.5)*l.scale()) - 0.5 // the conversion rounds; a fused multiply-add would select another pixel
	}
	return float32(i) * l.scale()
}

// kind is a function that computes the taps of a line.
type kind func(l line) *taps

// bilinear weighs the two nearest pixels.
func bilinear(l line) *taps {
	t := &taps{first: []int{0}}
	for i := range l.out {
		x := l.at(i)
		low := float32(math.Floor(float64(x)))
		part := x - low
		t.add(max(int(low), 0), 1-part)
		t.add(min(int(low)+1, l.in-1), part)
		t.end()
	}
	return t
}

// tableSize is the number of steps in TensorFlow's table of the cubic weights.
const tableSize = 1 << 10

// cubic returns the table of weights by distance: for each, the weights of the
// near and of the far neighbour.
func cubic(a float64) []float32 {
	table := make([]float32, 2*(tableSize+1))
	for i := range tableSize + 1 {
		x := float64(float32(float64(i) / tableSize))
		table[2*i] = float32(((a+2)*x-(a+3))*x*x + 1)
		x++
		table[2*i+1] = float32(((a*x-5*a)*x+8*a)*x - 4*a)
	}
	return table
}

// tapBytes is about the size in bytes of the taps of an output's row or column.
const tapBytes = 64

// catmullRom has the weights of bicubic resizing with centers, sharp those of
// other resizing.
var catmullRom, sharp = cubic(-0.5), cubic(-0.75)

// bicubic weighs four pixels by a table. With centers, pixels outside don't
// count; otherwise they repeat the last one. Both rules are TensorFlow's.
func bicubic(l line) *taps {
	t := &taps{first: []int{0}}
	table := sharp
	if l.centers {
		table = catmullRom
	}
	for i := range l.out {
		x := l.at(i)
		low := math.Floor(float64(x))
		offset := int(math.RoundToEven(float64((x - float32(low)) * tableSize)))
		w := [4]float32{table[2*offset+1], table[2*offset], table[2*(tableSize-offset)], table[2*(tableSize-offset)+1]}
		var sum float32
		for k := range w {
			at := int(low) - 1 + k
			if l.centers && (at < 0 || at >= l.in) {
				w[k] = 0
			}
			sum += w[k]
		}
		for k := range w {
			if l.centers && sum != 0 {
				w[k] /= sum
			}
			t.add(min(max(int(low)-1+k, 0), l.in-1), w[k])
		}
		t.end()
	}
	return t
}

// area weighs all pixels that the output's pixel covers.
func area(l line) *taps {
	t := &taps{first: []int{0}}
	scale := l.scale()
	if l.in == 1 {
		scale = 1 / float32(l.out) // even if corners are aligned, so that each area has pixels
	}
	for i := range l.out {
		from, to := float32(i)*scale, float32(i+1)*scale
		for k := int(math.Floor(float64(from))); float32(k) < to; k++ {
			w := float32(1)
			switch {
			case float32(k) < from && float32(k+1) > to:
				w = scale
			case float32(k) < from:
				w = float32(k+1) - from
			case float32(k+1) > to:
				w = to - float32(k)
			}
			t.add(min(max(k, 0), l.in-1), w/scale)
		}
		t.end()
	}
	return t
}

// Between is the position of a pixel of a resized line between two pixels: Part
// is the distance from Low, as a fraction of the distance to High.
type Between struct {
	Low, High int
	Part      float32
}

// Bilinear returns the position of each pixel of a line that is resized from in
// to out pixels. corners aligns the corners; centers puts the pixels' centers
// at half a pixel. Kernels of other element types use it.
func Bilinear(in, out int, corners, centers bool) []Between {
	t := bilinear(line{in, out, corners, centers})
	list := make([]Between, out)
	for i := range list {
		index, weight := t.of(i)
		list[i] = Between{index[0], index[1], weight[1]}
	}
	return list
}
