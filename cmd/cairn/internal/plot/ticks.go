package plot

import (
	"math"
	"strconv"
)

type tick struct {
	value float64
	label string
}

// ticks returns a few round numbers from lo to hi, all distinguished by
// their labels; whole allows no fractions.
func ticks(lo, hi float64, whole bool) []tick {
	plain := func(v float64) tick { return tick{v, strconv.FormatFloat(v, 'g', 3, 64)} }
	if !(hi > lo) || math.IsInf(hi-lo, 0) {
		return []tick{plain(lo)}
	}
	step := roundStep((hi - lo) / 4)
	if whole {
		step = max(1, math.Round(step))
	}
	var out []tick
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+step*1e-9 && len(out) < 12; k++ {
		out = append(out, tick{k * step, tickLabel(k, step, max(math.Abs(lo), math.Abs(hi)), whole)})
	}
	if len(out) == 0 { // numbers so close that steps between them vanish
		return []tick{plain(lo), plain(hi)}
	}
	return out
}

// roundStep returns the least of 1, 2, 5 and 10 times a power of ten that is no
// less than raw.
func roundStep(raw float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*unit >= raw {
			return m * unit
		}
	}
	return 10 * unit
}

// tickLabel prints the k-th step with as many digits as the step needs next to
// numbers as large as most.
func tickLabel(k, step, most float64, whole bool) string {
	v := k * step
	if k == 0 {
		return "0" // never -0
	}
	if whole && v < 1e6 || !whole && math.Abs(v) < 1e5 && math.Abs(v) >= 1e-3 {
		return strconv.FormatFloat(v, 'f', max(0, -int(math.Floor(math.Log10(step)+1e-9))), 64)
	}
	digits := 1
	if most > 0 {
		digits = max(1, int(math.Floor(math.Log10(most))-math.Floor(math.Log10(step)))+1)
	}
	return strconv.FormatFloat(v, 'g', min(digits, 15), 64)
}
