package optimizers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cairnml/cairn/tensor"
)

// The names of the scalars that TensorFlow 1's programs save for an optimizer: the count of
// steps, and for Adam the powers of its rates, which depend on the count.
const (
	firstCount = "global_step"
	firstPower = "beta1_power"
	nextPower  = "beta2_power"
)

// NamesFor returns the names of the scalars in a checkpoint of TensorFlow 1 from which the
// count of steps follows: global_step, and the powers of Adam's rates. The result is empty
// for the new layout, and if the file has the optimizer's own count.
func (o *Base) NamesFor(scalars []string) []string {
	if o.rule == nil || !o.isLegacy() {
		return nil
	}
	if _, own := slices.BinarySearch(scalars, o.Name+"/iter"); own {
		return nil
	}
	known := []string{firstCount}
	if _, adam := o.rule.(*Adam); adam {
		known = append(known, firstPower, nextPower)
	}
	var names []string
	for _, k := range known {
		// Below the scope in which the optimizer was made, if there is only one.
		found := slices.DeleteFunc(slices.Clone(scalars), func(name string) bool { return name != k && !strings.HasSuffix(name, "/"+k) })
		if len(found) == 1 {
			names = append(names, found[0])
		}
	}
	return names
}

// RestoreNamed sets the count of steps to global_step, or to the count that follows from
// Adam's powers. The restore of a checkpoint of TensorFlow 1 calls it with the values that
// NamesFor asked for. Without one of them the count stays; after an error too.
func (o *Base) RestoreNamed(values map[string]*tensor.Tensor) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.make(); err != nil {
		return err
	}
	number := func(end string) (float64, string, bool) {
		for name, t := range values {
			if name == end || strings.HasSuffix(name, "/"+end) {
				if x, err := t.AppendFloat64s(nil, 0, 1); err == nil {
					return x[0], name, true
				}
			}
		}
		return 0, "", false
	}
	if n, name, ok := number(firstCount); ok {
		if n < 0 || n != math.Trunc(n) {
			return fmt.Errorf("optimizers: %s is %v, no count of steps", name, n)
		}
		o.iter.Set(int64(n))
		return nil
	}
	a, ok := o.rule.(*Adam)
	if !ok {
		return nil
	}
	// After n steps a power is the rate to the power of n+1. The first one is more
	// exact, until it is too small for a float32.
	p, name, ok := number(firstPower)
	rate := a.Beta1
	if !ok || p < 1e-30 {
		p, name, ok = number(nextPower)
		rate = a.Beta2
	}
	if !ok {
		return nil
	}
	n := math.Round(math.Log(p)/math.Log(rate)) - 1
	if !(n >= 0 && n < 1<<53) {
		return fmt.Errorf("optimizers: %s is %v, no power of %v", name, p, rate)
	}
	o.iter.Set(int64(n))
	return nil
}
