package shape

import (
	"fmt"
	"math"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// stateRules returns the rules of variables and of optimizers' steps.
func stateRules() map[string]Rule {
	return join(
		rules(handleOp, "VarHandleOp", "VariableV2", "Variable", "TemporaryVariable"),
		rules(assignVariable, "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp"),
		rules(resourceUpdate, "ResourceApplyGradientDescent", "ResourceApplyMomentum", "ResourceApplyKerasMomentum",
			"ResourceApplyAdam", "ResourceApplyAdamWithAmsgrad", "ResourceApplyAdaMax", "ResourceApplyAdagrad",
			"ResourceApplyAdagradV2", "ResourceApplyAdadelta", "ResourceApplyRMSProp", "ResourceApplyCenteredRMSProp",
			"ResourceApplyFtrl", "ResourceApplyFtrlV2", "ResourceApplyProximalGradientDescent", "ResourceApplyProximalAdagrad",
			"ResourceApplyAddSign", "ResourceApplyPowerSign", "ResourceApplyAdagradDA"),
		rules(resourceSparseUpdate, "ResourceSparseApplyMomentum", "ResourceSparseApplyKerasMomentum", "ResourceSparseApplyAdagrad",
			"ResourceSparseApplyAdagradV2", "ResourceSparseApplyAdadelta", "ResourceSparseApplyRMSProp",
			"ResourceSparseApplyCenteredRMSProp", "ResourceSparseApplyFtrl", "ResourceSparseApplyFtrlV2",
			"ResourceSparseApplyAdagradDA", "ResourceSparseApplyProximalAdagrad", "ResourceSparseApplyProximalGradientDescent"),
		rules(resourceScatter, "ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterMul", "ResourceScatterDiv",
			"ResourceScatterMin", "ResourceScatterMax", "ResourceScatterUpdate"),
		rules(nothing, "ResourceScatterNdUpdate", "ResourceScatterNdAdd", "ResourceScatterNdSub", "ResourceScatterNdMin",
			"ResourceScatterNdMax", "DestroyResourceOp", "DisableCopyOnRead", "SdcaShrinkL1"),
		rules(pass, "ScatterAdd", "ScatterSub", "ScatterMul", "ScatterDiv", "ScatterMin", "ScatterMax", "ScatterUpdate",
			"ScatterNdUpdate", "ScatterNdAdd", "ScatterNdSub", "ScatterNdMin", "ScatterNdMax", "CountUpTo", "DestroyTemporaryVariable"),
		rules(applyRef, "ApplyGradientDescent", "ApplyMomentum", "ApplyAdam", "ApplyAdagrad", "ApplyAdagradV2", "ApplyAdadelta",
			"ApplyAdaMax", "ApplyRMSProp", "ApplyCenteredRMSProp", "ApplyFtrl", "ApplyFtrlV2", "ApplyAdagradDA", "ApplyAddSign", "ApplyPowerSign", "ApplyProximalAdagrad",
			"ApplyProximalGradientDescent", "SparseApplyMomentum", "SparseApplyAdagrad", "SparseApplyAdagradV2", "SparseApplyAdadelta",
			"SparseApplyRMSProp", "SparseApplyCenteredRMSProp", "SparseApplyFtrl", "SparseApplyFtrlV2", "SparseApplyAdagradDA",
			"SparseApplyProximalAdagrad", "SparseApplyProximalGradientDescent"),
		map[string]Rule{
			"ReadVariableOp": readVariable, "VarIsInitializedOp": scalarOut, "IsVariableInitialized": scalarOut, "ResourceCountUpTo": scalarOut,
			"VariableShape": variableShape, "ResourceGather": resourceGather, "ResourceGatherNd": resourceGatherND,
			"Assign": assign, "AssignAdd": assignWith, "AssignSub": assignWith, "_VarHandlesOp": nothing,
		})
}

// handleOp infers the outputs of ops that make a variable: a handle, or a
// reference.
func handleOp(c *Inference) error {
	s, _ := c.Attrs.Shape("shape")
	if len(c.Out) == 0 {
		return nil
	}
	d := c.Attrs.Type("dtype", tensor.Invalid)
	if c.Op != "VarHandleOp" {
		// VariableV2's shape of no dimensions is a scalar's; Variable's may be any.
		if c.Op == "Variable" && s.Rank() == 0 {
			s = graph.UnknownShape
		}
		c.set(0, s.Identified())
		return nil
	}
	c.setDims(0)
	c.Out[0].Handle = []graph.Content{{DType: d, Shape: s.Identified()}}
	return nil
}

// held returns the content of the handle in input i, with false if it is
// unknown.
func (c *Inference) held(i int) (graph.Content, bool) {
	if h := c.In[i].Handle; len(h) == 1 {
		return h[0], true
	}
	return graph.Content{}, false
}

func readVariable(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	h, ok := c.held(0)
	if !ok || len(c.Out) == 0 {
		return nil
	}
	if d := c.Attrs.Type("dtype", h.DType); d != h.DType && h.DType != tensor.Invalid {
		return fmt.Errorf("the variable is %v, the attribute dtype %v", h.DType, d)
	}
	if c.Out[0].DType == tensor.Invalid {
		c.Out[0].DType = h.DType
	}
	c.set(0, h.Shape)
	return nil
}

func assignVariable(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	h, ok := c.held(0)
	if !ok {
		return nil
	}
	if d := c.In[1].DType; h.DType != tensor.Invalid && d != tensor.Invalid && h.DType != d {
		return fmt.Errorf("the variable is %v, the value %v", h.DType, d)
	}
	if _, err := h.Shape.Merge(c.shape(1)); err != nil {
		return fmt.Errorf("the variable is %v%v, the value %v", h.DType, h.Shape, c.shape(1))
	}
	return nil
}

func variableShape(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	h, _ := c.held(0)
	c.setShapeOf(0, h.Shape)
	return nil
}

// Rows returns the shape of rows of a tensor of shape s, one for each of the
// indices of shape is.
func Rows(s, is tensor.Shape) (tensor.Shape, error) {
	if len(s) < 1 {
		return nil, fmt.Errorf("the variable is a scalar")
	}
	return append(is.Clone(), s[1:]...), nil
}

func resourceGather(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	h, ok := c.held(0)
	is, iok := c.dims(1)
	if !ok || !iok || !h.Shape.HasRank() {
		return nil
	}
	if b := c.Attrs.Int("batch_dims", 0); b != 0 {
		out, _, err := Gather(h.Shape.Dims(), is, int(b), b)
		if err == nil {
			c.setDims(0, out...)
		}
		return err
	}
	out, err := Rows(h.Shape.Dims(), is)
	if err == nil {
		c.setDims(0, out...)
	}
	return err
}

func resourceGatherND(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	h, ok := c.held(0)
	is, iok := c.dims(1)
	if !ok || !iok || !h.Shape.HasRank() || len(is) > 0 && is[len(is)-1] < 0 {
		return nil
	}
	outer, inner, err := Indexed(is, h.Shape.Dims())
	if err == nil {
		c.setDims(0, append(outer.Clone(), inner...)...)
	}
	return err
}

func resourceScatter(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	h, ok := c.held(0)
	is, iok := c.dims(1)
	if !ok || !iok || !h.Shape.HasRank() {
		return nil
	}
	want, err := Rows(h.Shape.Dims(), is)
	if err != nil || c.shape(2).Rank() == 0 {
		return err
	}
	if !c.shape(2).Compatible(graph.ShapeOf(want...)) {
		return fmt.Errorf("the updates have shape %v, not %v", c.shape(2), want)
	}
	return nil
}

// resourceUpdate checks the inputs of optimizers' ops. Each input that isn't a scalar must
// have the variable's shape. The ops have no outputs.
func resourceUpdate(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	h, _ := c.held(0)
	s := h.Shape
	for i := 1; i < len(c.In); i++ {
		o := c.shape(i)
		if c.In[i].DType == tensor.Resource {
			slot, _ := c.held(i)
			o = slot.Shape
		} else if !o.HasRank() || o.Rank() == 0 || !s.HasRank() {
			continue
		}
		m, err := s.Merge(o)
		if err != nil {
			return fmt.Errorf("input %d has shape %v, the variable %v", i, o, s)
		}
		s = m
	}
	return nil
}

// resourceSparseUpdate checks the inputs of optimizers' ops that change rows: the slots
// have the variable's shape, the gradient a row for each index.
func resourceSparseUpdate(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	h, _ := c.held(0)
	s := h.Shape
	var rows graph.PartialShape // the gradient's shape
	for i := 1; i < len(c.In); i++ {
		o := c.shape(i)
		switch {
		case c.In[i].DType == tensor.Resource:
			slot, _ := c.held(i)
			m, err := s.Merge(slot.Shape)
			if err != nil {
				return fmt.Errorf("input %d holds %v, the variable %v", i, slot.Shape, s)
			}
			s = m
		case o.HasRank() && o.Rank() > 0 && c.In[i].DType != tensor.Int32 && c.In[i].DType != tensor.Int64:
			rows = o
		case o.HasRank() && o.Rank() == 1 && rows.HasRank():
			if _, err := rows.Merge(rows.With(0, o.Dim(0))); err != nil {
				return fmt.Errorf("the gradient has shape %v for indices of shape %v", rows, o)
			}
		}
	}
	if s.HasRank() && rows.HasRank() && s.Rank() > 0 {
		if _, err := s.With(0, -1).Merge(rows.With(0, -1)); err != nil {
			return fmt.Errorf("the variable has shape %v, the gradient %v", s, rows)
		}
	}
	return nil
}

// applyRef infers as [resourceUpdate] does, for reference variables, which the op
// returns.
func applyRef(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	s := c.shape(0)
	for i := 1; i < len(c.In) && c.In[i].Ref; i++ {
		m, err := s.Merge(c.shape(i))
		if err != nil {
			return fmt.Errorf("input %d has shape %v, the variable %v", i, c.shape(i), s)
		}
		s = m
	}
	c.set(0, s)
	return nil
}

// assign infers the reference. Its shape is the shape of the assigned value.
func assign(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	if c.Attrs.Has("validate_shape") && !c.Attrs.Bool("validate_shape") {
		c.set(0, c.shape(1))
		return nil
	}
	return assignWith(c)
}

func assignWith(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, err := c.shape(0).Merge(c.shape(1))
	if err != nil {
		return fmt.Errorf("the variable has shape %v, the value %v", c.shape(0), c.shape(1))
	}
	c.set(0, s)
	return nil
}

// ioRules returns the rules of checkpoints, files and summaries.
func ioRules() map[string]Rule {
	return map[string]Rule{
		"SaveV2": named, "RestoreV2": restore, "MergeV2Checkpoints": nothing, "ShardedFilename": scalars, "ShardedFilespec": scalars,
		"ReadFile": scalars, "WriteFile": nothing, "MatchingFiles": func(c *Inference) error { c.set(0, graph.OfRank(1)); return nil },
		"LoadAndRemapMatrix": remappedMatrix, "Save": nothing, "SaveSlices": nothing, "Restore": restoreOne, "RestoreSlice": restoreOne, "Timestamp": scalarOut,
		"ScalarSummary": scalarOut, "HistogramSummary": scalarOut, "MergeSummary": scalarOut, "TensorSummary": scalarOut, "TensorSummaryV2": scalarOut,
		"SummaryWriter": scalarOut, "CreateSummaryFileWriter": nothing, "FlushSummaryWriter": nothing, "CloseSummaryWriter": nothing,
		"WriteScalarSummary": nothing, "WriteHistogramSummary": nothing, "WriteImageSummary": nothing, "WriteAudioSummary": nothing, "WriteSummary": nothing,
		"WriteRawProtoSummary": nothing, "WriteGraphSummary": nothing, "ImportEvent": nothing,
	}
}

// scalars infers the outputs of ops that take and return scalars.
func scalars(c *Inference) error {
	for i := range c.In {
		if err := c.scalar(i); err != nil {
			return err
		}
	}
	return scalarOut(c)
}

// named checks the inputs that SaveV2 and RestoreV2 begin with.
func named(c *Inference) error {
	if err := c.atLeast(3); err != nil {
		return err
	}
	n, err := c.vector(1)
	if err != nil {
		return err
	}
	m, err := c.vector(2)
	if err != nil {
		return err
	}
	if n >= 0 && m >= 0 && n != m {
		return fmt.Errorf("there are %d names and %d shapes-and-slices", n, m)
	}
	return c.scalar(0)
}

// restore infers the shapes in the strings of shapes and slices, "3 4 0,2:-".
func restore(c *Inference) error {
	if err := named(c); err != nil {
		return err
	}
	specs := c.In[2].Value
	if specs == nil || specs.DType() != tensor.String {
		return nil
	}
	for i, spec := range specs.Strings() {
		if s, ok := sliceShape(spec); ok {
			c.setDims(i, s...)
		}
	}
	return nil
}

// restoreOne infers the tensor of Restore, which may have any shape, and that
// of RestoreSlice, whose shape is in input 2.
func restoreOne(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	for i := range c.In {
		if err := c.scalar(i); err != nil {
			return err
		}
	}
	if len(c.In) < 3 || c.In[2].Value == nil || c.In[2].Value.DType() != tensor.String {
		return nil
	}
	if s, ok := sliceShape(c.In[2].Value.Strings()[0]); ok {
		c.setDims(0, s...)
	}
	return nil
}

// sliceShape returns the shape of the part that a shape-and-slice names: the
// sizes of the whole, then an extent for each dimension, "-" or "start,length".
func sliceShape(spec string) (tensor.Shape, bool) {
	fields := strings.Fields(spec)
	if len(fields) == 0 {
		return nil, false
	}
	full := fields[:len(fields)-1]
	parts := strings.Split(fields[len(fields)-1], ":")
	if len(parts) != len(full) {
		return nil, false
	}
	out := make(tensor.Shape, len(full))
	for i, p := range parts {
		number := full[i]
		if p != "-" {
			_, length, ok := strings.Cut(p, ",")
			if !ok {
				return nil, false
			}
			number = length
		}
		if n, err := fmt.Sscan(number, &out[i]); n != 1 || err != nil || out[i] < 0 {
			return nil, false
		}
	}
	return out, true
}

// remappedMatrix infers a matrix with the sizes in the attributes.
func remappedMatrix(c *Inference) error {
	if err := c.atLeast(5); err != nil {
		return err
	}
	rows, cols := c.Attrs.Int("num_rows", -1), c.Attrs.Int("num_cols", -1)
	if rows < 0 || cols < 0 || rows > math.MaxInt32 || cols > math.MaxInt32 {
		return fmt.Errorf("num_rows and num_cols are %d and %d", rows, cols)
	}
	c.setDims(0, int(rows), int(cols))
	return nil
}
