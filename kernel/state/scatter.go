package state

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/parts"
	"github.com/cairnml/cairn/kernel/internal/scatter"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// The kernels of ResourceScatter*, Scatter*, ResourceScatterNd* and ScatterNd*
// on variables, and of ResourceGatherNd.

// scatters returns the ops that change rows of a variable, or parts that index
// vectors name.
func scatters() []engine.Kernel {
	var table []engine.Kernel
	for i, name := range [...]string{scatter.Update: "Update", scatter.Add: "Add", scatter.Sub: "Sub", scatter.Mul: "Mul", scatter.Div: "Div", scatter.Min: "Min", scatter.Max: "Max"} {
		how := scatter.How(i)
		run := func(c *engine.Call) error { return scatterTo(c, how) }
		of := func(op, attr string, run func(*engine.Call) error) engine.Kernel {
			k := engine.Kernel{Op: op, Run: run, Precision: engine.Accumulated}
			if how != scatter.Update { // Update moves elements of any type
				k.Types = engine.Types{attr: scatter.Types()}
			}
			return k
		}
		table = append(table, of("ResourceScatter"+name, "dtype", run), of("Scatter"+name, "T", giveBack(run)))
		if how == scatter.Mul || how == scatter.Div {
			continue
		}
		nd, ref := of("ResourceScatterNd"+name, "T", run), of("ScatterNd"+name, "T", giveBack(run))
		if how == scatter.Add || how == scatter.Sub {
			nd.Types = engine.Types{"T": append(scatter.Types(), tensor.Bool)}
			ref.Types = nd.Types
		}
		table = append(table, nd, ref)
	}
	return append(table, engine.Kernel{Op: "ResourceGatherNd", Run: resourceGatherND})
}

// places returns the offsets, in elements, of the parts of a tensor of shape s
// that indices name. outer is the shape of the indices, inner that of a part.
// The indices of nd ops are vectors.
func places(c *engine.Call, indices *tensor.Tensor, s tensor.Shape, nd bool) (at []int, outer, inner tensor.Shape, err error) {
	list, err := shapes.CallInts(c, indices, "the indices")
	if err != nil {
		return nil, nil, nil, err
	}
	depth := 1
	outer = indices.Shape()
	if nd {
		if outer, inner, err = shape.Indexed(indices.Shape(), s); err != nil {
			return nil, nil, nil, err
		}
		depth = len(s) - len(inner)
	} else {
		if len(s) == 0 {
			return nil, nil, nil, fmt.Errorf("the variable is a scalar")
		}
		inner = s[1:]
	}
	at = engine.Zeroed[int](c, shapes.Count(outer))
	size := shapes.Count(inner)
	for i := range at {
		if i%(1<<16) == 0 && c.Context().Err() != nil {
			return nil, nil, nil, context.Cause(c.Context())
		}
		place := 0
		for k := range depth {
			x := list[i*depth+k]
			if x < 0 || x >= int64(s[k]) {
				return nil, nil, nil, fmt.Errorf("index %d is outside of [0, %d)", x, s[k])
			}
			place = place*s[k] + int(x)
		}
		at[i] = place * size
	}
	return at, outer, inner, nil
}

// scatterTo changes the parts of a variable that input 1 names by the updates
// in input 2. All indices are checked before anything changes.
func scatterTo(c *engine.Call, h scatter.How) error {
	v, err := c.NeedTarget(3)
	if err != nil {
		return err
	}
	if v.DType() == tensor.Invalid {
		return errNoValue(v)
	}
	x := c.In(2)
	return v.Update(func(buf *tensor.Tensor) error {
		if buf.DType() != x.DType() {
			return fmt.Errorf("the variable is %v, the updates %v", buf.DType(), x.DType())
		}
		at, outer, inner, err := places(c, c.In(1), buf.Shape(), strings.Contains(c.Op(), "Nd"))
		if err != nil {
			return err
		}
		want := append(outer.Clone(), inner...)
		if len(x.Shape()) > 0 && !x.Shape().Equal(want) {
			return fmt.Errorf("the updates have shape %v, not %v", x.Shape(), want)
		}
		return scatter.ToVariable(c, buf, at, shapes.Count(inner), x, h)
	})
}

// resourceGatherND returns parts of a variable.
func resourceGatherND(c *engine.Call) error {
	v, indices, err := target(c)
	if err != nil {
		return err
	}
	x, release := v.Borrow()
	defer release()
	if x == nil {
		return errNoValue(v)
	}
	return gatherParts(c, x, indices, v)
}

// gatherParts copies the parts of x that index vectors name. v names the
// variable in errors.
func gatherParts(c *engine.Call, x, indices *tensor.Tensor, v *trackable.Variable) error {
	at, outer, inner, err := places(c, indices, x.Shape(), true)
	if err != nil {
		return fmt.Errorf("the variable %q: %w", v.Name(), err)
	}
	out, err := c.Alloc(0, x.DType(), append(outer.Clone(), inner...))
	if err != nil {
		return err
	}
	n := shapes.Count(inner)
	block := max(1, 1<<20/(n+8))
	for i, from := range at {
		if i%block == 0 && c.Context().Err() != nil {
			return context.Cause(c.Context())
		}
		parts.Copy(out, x, i*n, from, n)
	}
	return nil
}
