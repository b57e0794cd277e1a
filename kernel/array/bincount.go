package array

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// Weights must be added in the order of the numbers, because sums of floats depend on it.
// The table of this package lists the kernels for package kernel.

// binTypes makes a table of Funcs by the type of the weights.
func binTypes(f32, f64, i32, i64 elementwise.Func) elementwise.ByType {
	return elementwise.ByType{tensor.Float32: f32, tensor.Float64: f64, tensor.Int32: i32, tensor.Int64: i64}
}

// bincountOf is the kernel of Bincount and DenseBincount, by the type of the weights.
var bincountOf = binTypes(bincount[float32], bincount[float64], bincount[int32], bincount[int64])

// count counts the occurrences of each number below a size, or sums their
// weights. The output has the weights' type.
func count(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	return bincountOf.RunAs(c, c.In(2).DType())
}

func bincount[T float32 | float64 | int32 | int64](c *engine.Call) error {
	x, weights := c.In(0), tensor.Values[T](c.In(2))
	numbers, err := shapes.AllInts(x, "the numbers")
	if err != nil {
		return err
	}
	size, err := shapes.Int(c.In(1), "the number of bins")
	if err != nil {
		return err
	}
	if size < 0 || size != int64(int(size)) {
		return fmt.Errorf("the number of bins is out of range (got %d, want 0 to %d)", size, math.MaxInt)
	}
	if len(weights) != 0 && (len(weights) != x.Len() || c.Op() != "Bincount" && !c.In(2).Shape().Equal(x.Shape())) {
		return fmt.Errorf("the weights have shape %v, the numbers %v", c.In(2).Shape(), x.Shape())
	}
	dims, rows := tensor.Shape{int(size)}, 1
	if c.Op() == "DenseBincount" {
		switch s := x.Shape(); len(s) {
		case 0, 1:
		case 2:
			rows, dims = s[0], tensor.Shape{s[0], int(size)}
		default:
			return fmt.Errorf("the numbers have %d dimensions, more than 2", len(s))
		}
	}
	out, err := c.AllocZero(0, tensor.TypeOf[T](), dims)
	if err != nil {
		return err
	}
	bins := tensor.Values[T](out)
	binary := c.Attrs().Bool("binary_output")
	for i, k := range numbers {
		switch {
		case k < 0:
			return fmt.Errorf("the number %d is below 0", k)
		case k >= size:
			continue // TensorFlow, too, ignores numbers that have no bin
		}
		bin := &bins[i/(len(numbers)/rows)*int(size)+int(k)]
		switch {
		case binary:
			*bin = 1
		case len(weights) > 0:
			*bin += weights[i]
		default:
			*bin++
		}
	}
	return nil
}
