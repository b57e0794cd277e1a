package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// elementwiseRules returns the rules of ops that compute each element from the elements at its place.
func elementwiseRules() map[string]Rule {
	return join(
		rules(unchanged,
			"Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Conj", "Cos", "Cosh", "Digamma", "Elu", "Erf",
			"Erfc", "Erfinv", "Exp", "Expm1", "Floor", "Inv", "Invert", "IsFinite", "IsInf", "IsNan", "Lgamma", "Log", "Log1p",
			"LogicalNot", "Ndtri", "Neg", "Reciprocal", "Relu", "Relu6", "Rint", "Round", "Rsqrt", "Selu", "Sigmoid", "Sign",
			"Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Square", "Tan", "Tanh", "LeakyRelu", "ComplexAbs", "Real", "Imag",
			"Angle", "ZerosLike", "OnesLike", "PopulationCount", "CheckNumerics", "CheckNumericsV2", "BesselI0", "BesselI0e",
			"BesselI1", "BesselI1e", "BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0", "BesselY1",
			"Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence", "DeepCopy", "AsString", "StringLower", "StringUpper", "StringStrip", "StringLength",
			"StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong", "StringToNumber", "RegexReplace",
			"StaticRegexReplace", "RegexFullMatch", "StaticRegexFullMatch", "EncodeBase64", "DecodeBase64", "Bucketize"),
		rules(pass, "DebugGradientIdentity", "Identity", "StopGradient", "PreventGradient", "Snapshot", "RefIdentity", "DebugIdentity",
			"DebugIdentityV2", "DebugIdentityV3", "Copy", "CopyHost", "GuaranteeConst", "DebugGradientIdentity", "PlaceholderWithDefault"),
		rules(binary,
			"Atan2", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Complex", "Div", "DivNoNan", "Greater", "GreaterEqual", "Igamma",
			"Igammac", "IgammaGradA", "RandomGammaGrad", "LeftShift", "Less", "LessEqual", "LogicalAnd", "LogicalOr", "MulNoNan", "NextAfter",
			"Polygamma", "Pow", "RealDiv", "RightShift", "SquaredDifference", "Xdivy", "Xlog1py", "Xlogy", "Zeta"),
		arithmeticRules(),
		rules(comparison, "Equal", "NotEqual"),
		rules(merged, "TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad", "ReluGrad", "Relu6Grad",
			"SoftplusGrad", "SoftsignGrad", "EluGrad", "SeluGrad", "LeakyReluGrad", "ApproximateEqual"),
		map[string]Rule{
			"AddN": merged, "AccumulateNV2": merged, "BiasAdd": biasAdd, "ClipByValue": clipByValue, "Cast": cast, "Bitcast": bitcast,
			"Select": selectRule, "SelectV2": selectV2, "IdentityN": identityN, "Betainc": betainc,
			"StringJoin": stringJoin,
		})
}

// unchanged infers the output of ops that have one with input 0's shape.
func unchanged(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	c.set(0, c.shape(0))
	return nil
}

// pass infers the outputs of ops that return their input.
func pass(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	c.pass(0, 0)
	if c.Op == "PlaceholderWithDefault" && len(c.Out) > 0 {
		// A caller may feed another value, of the shape in the attribute.
		s, ok := c.Attrs.Shape("shape")
		if !ok {
			s = graph.UnknownShape
		}
		if _, err := s.Merge(c.shape(0)); err != nil {
			return err
		}
		c.Out[0] = graph.Fact{DType: c.Out[0].DType, Shape: s.Identified()}
	}
	return nil
}

func identityN(c *Inference) error {
	for i := range c.In {
		c.pass(i, i)
	}
	return nil
}

// binary infers the outputs of ops whose two inputs broadcast.
func binary(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, err := BroadcastShapes(c.shape(0), c.shape(1))
	if err == nil {
		c.set(0, s)
	}
	return err
}

// comparison infers comparisons as [binary] does. If incompatible_shape_error is
// false, values whose shapes don't broadcast count as different: the result is one
// scalar.
func comparison(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	if c.Attrs.Has("incompatible_shape_error") && !c.Attrs.Bool("incompatible_shape_error") {
		if s, err := BroadcastShapes(c.shape(0), c.shape(1)); err != nil {
			c.setDims(0)
		} else if broadcasts(c.shape(0), c.shape(1)) {
			c.set(0, s)
		}
		return nil
	}
	return binary(c)
}

// broadcasts reports whether shapes broadcast whatever their unknown sizes are.
func broadcasts(a, b graph.PartialShape) bool {
	if !a.HasRank() || !b.HasRank() {
		return a.HasRank() && a.Rank() == 0 || b.HasRank() && b.Rank() == 0
	}
	for i := 1; i <= min(a.Rank(), b.Rank()); i++ {
		if x, y := a.Dim(a.Rank()-i), b.Dim(b.Rank()-i); x != 1 && y != 1 && !graph.SameDim(x, y) {
			return false
		}
	}
	return true
}

// merged infers the output of ops whose inputs have one shape, the output's
// too.
func merged(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	s := c.shape(0)
	for i := 1; i < len(c.In); i++ {
		m, err := s.Merge(c.shape(i))
		if err != nil {
			return fmt.Errorf("input %d has shape %v, the first %v", i, c.shape(i), c.shape(0))
		}
		s = m
	}
	c.set(0, s)
	return nil
}

// Alike returns the shape of two tensors of one shape, or of a tensor and a
// scalar.
func Alike(a, b graph.PartialShape) (graph.PartialShape, error) {
	switch {
	case b.Rank() == 0:
		return a, nil
	case a.Rank() == 0:
		return b, nil
	}
	s, err := a.Merge(b)
	if err != nil {
		return s, fmt.Errorf("the shapes %v and %v differ, and neither is a scalar's", a, b)
	}
	return s, nil
}

func betainc(c *Inference) error {
	s := graph.ShapeOf()
	for i := range c.In {
		m, err := Alike(s, c.shape(i))
		if err != nil {
			return err
		}
		s = m
	}
	c.set(0, s)
	return nil
}

// BiasAxis returns the dimension of the bias: the last one, or dimension 1 if
// the format is NCHW. The input needs at least two dimensions.
func BiasAxis(x tensor.Shape, format string) (int, error) {
	switch {
	case len(x) < 2:
		return 0, fmt.Errorf("takes an input of at least two dimensions")
	case format == "NCHW":
		return 1, nil
	}
	return len(x) - 1, nil
}

// Bias returns the axis of x to which a bias of shape b is added.
func Bias(x, b tensor.Shape, format string) (int, error) {
	axis, err := BiasAxis(x, format)
	if err != nil || len(b) != 1 {
		return 0, fmt.Errorf("takes an input of at least two dimensions and a vector")
	}
	if _, ok := graph.MergeDim(b[0], x[axis]); !ok {
		return 0, fmt.Errorf("the bias has %d elements, dimension %d of the input %d", b[0], axis, x[axis])
	}
	return axis, nil
}

func biasAdd(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	b, err := c.ranked(1, 1)
	if err != nil {
		return err
	}
	x := c.shape(0)
	if !x.HasRank() {
		return nil
	}
	axis, err := Bias(x.Dims(), b.Dims(), c.Attrs.String("data_format", "NHWC"))
	if err != nil {
		return err
	}
	d, _ := graph.MergeDim(x.Dim(axis), b.Dim(0))
	c.set(0, x.With(axis, d))
	return nil
}

// Clip checks the shape of a limit of ClipByValue, which is a scalar or has the
// input's shape.
func Clip(x, limit graph.PartialShape) error {
	if n, ok := limit.NumElements(); ok && n == 1 || x.Compatible(limit) {
		return nil
	}
	if !limit.Known() && limit.HasRank() && !hasOther(limit.Dims()) {
		return nil // all sizes may be 1
	}
	return fmt.Errorf("a limit has shape %v, neither a scalar's nor the input's %v", limit, x)
}

// hasOther reports whether a size is known not to be 1.
func hasOther(s tensor.Shape) bool {
	for _, d := range s {
		if d >= 0 && d != 1 {
			return true
		}
	}
	return false
}

func clipByValue(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	c.set(0, c.shape(0))
	return each(Clip(c.shape(0), c.shape(1)), Clip(c.shape(0), c.shape(2)))
}

func cast(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	to := c.Attrs.Type("DstT", tensor.Invalid)
	c.set(0, c.shape(0))
	if len(c.Out) == 0 {
		return nil
	}
	if to == c.In[0].DType {
		c.pass(0, 0)
		return nil
	}
	e, ok := c.In[0].Ints()
	if !ok || !isInteger(to) {
		return nil
	}
	out := make([]graph.Elem, len(e))
	for i, x := range e {
		out[i] = fits(x, to)
	}
	c.setElems(0, out)
	return nil
}

// isInteger reports whether elements of type d are followed one by one.
func isInteger(d tensor.DType) bool { return d == tensor.Int32 || d == tensor.Int64 }

// fits returns the element as one of type d, unknown if it overflows.
func fits(x graph.Elem, d tensor.DType) graph.Elem {
	if n, ok := x.Int(); ok && d != tensor.Int64 && n != int64(int32(n)) {
		return graph.UnknownElem()
	}
	return x
}

// BitcastShape returns the shape of a tensor whose elements are reinterpreted
// as elements of another size: the last dimension has the parts.
func BitcastShape(s tensor.Shape, from, to tensor.DType) (tensor.Shape, error) {
	a, b := from.Size(), to.Size()
	switch {
	case a == 0 || b == 0:
		return nil, fmt.Errorf("can't view the bits of %v as %v", from, to)
	case a > b:
		return append(s.Clone(), a/b), nil
	case a < b:
		if len(s) == 0 || s[len(s)-1] >= 0 && s[len(s)-1] != b/a {
			return nil, fmt.Errorf("to become %v, %v%v needs a last dimension of %d", to, from, s, b/a)
		}
		return s[:len(s)-1], nil
	}
	return s, nil
}

func bitcast(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	to := c.Attrs.Type("type", tensor.Invalid)
	s, ok := c.dims(0)
	if !ok {
		return nil
	}
	out, err := BitcastShape(s, c.In[0].DType, to)
	if err == nil {
		c.setDims(0, out...)
	}
	return err
}

func selectV2(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	s, err := BroadcastShapes(c.shape(1), c.shape(2))
	if err != nil {
		return err
	}
	if s, err = BroadcastShapes(c.shape(0), s); err == nil {
		c.set(0, s)
	}
	return err
}

// Choice returns the shape of Select's values x and y for a condition: they
// have one shape; the condition has it too, or is a vector that picks rows, or
// a scalar.
func Choice(cond, x, y graph.PartialShape) (graph.PartialShape, error) {
	s, err := x.Merge(y)
	if err != nil {
		return s, fmt.Errorf("the values' shapes differ: %v and %v", x, y)
	}
	bad := func() error {
		return fmt.Errorf("the condition of shape %v fits no values of shape %v", cond, s)
	}
	switch {
	case !cond.HasRank() || cond.Rank() == 0:
		return s, nil
	case cond.Rank() > 1 || s.Rank() == 1:
		m, err := s.Merge(cond)
		if err != nil {
			return s, bad()
		}
		return m, nil
	case !s.HasRank():
		return s, nil // rows of an unknown number of dimensions
	case s.Rank() == 0:
		return s, bad()
	}
	d, ok := graph.MergeDim(s.Dim(0), cond.Dim(0))
	if !ok {
		return s, bad()
	}
	if d != s.Dim(0) {
		s = s.With(0, d)
	}
	return s, nil
}

func selectRule(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	s, err := Choice(c.shape(0), c.shape(1), c.shape(2))
	if err != nil {
		return err
	}
	c.set(0, s)
	if len(c.Out) > 0 && len(c.In[1].Handle) > 0 && len(c.In[2].Handle) > 0 {
		c.Out[0].Handle = c.In[1].Relax(c.In[2]).Handle
	}
	return nil
}

// JoinedStrings returns the shape of StringJoin's output: that of the inputs
// that aren't scalars.
func JoinedStrings(in ...graph.PartialShape) (graph.PartialShape, error) {
	out := graph.ShapeOf()
	found, unknown := false, false
	for _, s := range in {
		switch {
		case !s.HasRank():
			unknown = true
		case s.Rank() == 0:
		case !found:
			out, found = s, true
		default:
			m, err := out.Merge(s)
			if err != nil {
				return out, fmt.Errorf("the inputs' shapes differ: %v and %v", out, s)
			}
			out = m
		}
	}
	if unknown && !found {
		return graph.PartialShape{}, nil
	}
	return out, nil
}

func stringJoin(c *Inference) error {
	in := make([]graph.PartialShape, len(c.In))
	for i := range in {
		in[i] = c.shape(i)
	}
	s, err := JoinedStrings(in...)
	if err == nil {
		c.set(0, s)
	}
	return err
}
