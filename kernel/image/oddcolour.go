package image

import "math"

// With numbers that aren't finite, the result depends on the order of
// TensorFlow's comparisons. So this file computes pixels with such numbers in
// TensorFlow's steps.

// finite reports whether a pixel and the number by which it is changed are finite.
func finite(p *[3]float64, by float64) bool {
	sum := p[0] + p[1] + p[2] + by
	return sum-sum == 0
}

// oddHue shifts the hue of a pixel with a number that isn't finite.
func oddHue(p *[3]float64, by float32) {
	r, g, b := float32(p[0]), float32(p[1]), float32(p[2])
	var most, mid, least float32
	var sector int
	if r < g {
		switch {
		case b < r:
			most, mid, least, sector = g, r, b, 1
		case b > g:
			most, mid, least, sector = b, g, r, 3
		default:
			most, mid, least, sector = g, b, r, 2
		}
	} else {
		switch {
		case b < g:
			most, mid, least, sector = r, g, b, 0
		case b > r:
			most, mid, least, sector = b, r, g, 4
		default:
			most, mid, least, sector = r, b, g, 5
		}
	}
	var h float32
	if most != least {
		ratio := (mid - least) / (most - least)
		if sector%2 != 0 {
			ratio = 1 - ratio
		}
		h = float32(sector) + ratio
	}
	h += by * 6
	sector, ratio := 6, h
	if h-h == 0 { // otherwise TensorFlow has no sector, and loops without end on infinity
		h = float32(math.Mod(float64(h), 6))
		if h < 0 {
			h += 6
		}
		sector = int(h)
		ratio = h - float32(sector)
	} else {
		ratio = float32(math.NaN())
	}
	if sector%2 != 0 {
		ratio = 1 - ratio
	}
	mid = least + ratio*(most-least)
	switch sector {
	case 0:
		r, g, b = most, mid, least
	case 1:
		r, g, b = mid, most, least
	case 2:
		r, g, b = least, most, mid
	case 3:
		r, g, b = least, mid, most
	case 4:
		r, g, b = mid, least, most
	default:
		r, g, b = most, least, mid
	}
	p[0], p[1], p[2] = float64(r), float64(g), float64(b)
}

// larger returns b if a is less than b, otherwise a, even if one is NaN.
func larger(a, b float32) float32 {
	if a < b {
		return b
	}
	return a
}

func smaller(a, b float32) float32 {
	if b < a {
		return b
	}
	return a
}

// oddSaturation scales the saturation of a pixel with a number that isn't finite.
func oddSaturation(p *[3]float64, by float32) {
	r, g, b := float32(p[0]), float32(p[1]), float32(p[2])
	v := larger(r, larger(g, b))
	spread := v - smaller(r, smaller(g, b))
	var s float32
	if v > 0 {
		s = spread / v
	}
	norm := 1 / (6 * spread)
	var h float32
	switch v {
	case r:
		h = norm * (g - b)
	case g:
		h = norm*(b-r) + 2.0/6
	default:
		h = norm*(r-g) + 4.0/6
	}
	if spread <= 0 {
		h = 0
	}
	if h < 0 {
		h++
	}
	s = smaller(1, larger(0, s*by))
	c := s * v
	m := v - c
	sixth := h * 6
	part, sector := float32(math.NaN()), 6
	if sixth-sixth == 0 {
		part = float32(math.Mod(float64(sixth), 2))
		sector = int(sixth)
	}
	x := c * (1 - float32(math.Abs(float64(part-1))))
	var to [3]float32
	switch sector {
	case 0:
		to = [3]float32{c, x, 0}
	case 1:
		to = [3]float32{x, c, 0}
	case 2:
		to = [3]float32{0, c, x}
	case 3:
		to = [3]float32{0, x, c}
	case 4:
		to = [3]float32{x, 0, c}
	case 5:
		to = [3]float32{c, 0, x}
	}
	for i, t := range to {
		p[i] = float64(t + m)
	}
}
