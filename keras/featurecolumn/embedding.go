package featurecolumn

import (
	"fmt"
	"math"
	"reflect"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Embedding has a vector for each row, combined of learned vectors of its categories:
// tf.feature_column.embedding_column.
type Embedding struct {
	// Categorical are the categories. It is required.
	Categorical Categorical `keras:"categorical_column"`
	// Dimension is the size of the vectors. It is required.
	Dimension int
	// Combiner is mean, sqrtn or sum. Default: mean.
	Combiner string `keras:",default=mean"`
	// Initializer makes the first vectors. Default: TruncatedNormal with the deviation
	// 1/√Dimension.
	Initializer initializers.Initializer
	// CkptToLoadFrom and TensorNameInCkpt must be nil: a checkpoint is restored by package
	// checkpoint.
	CkptToLoadFrom, TensorNameInCkpt *string
	// MaxNorm cuts longer vectors. Default: none are cut.
	MaxNorm *float64
	// NotTrainable keeps optimizers off the vectors.
	NotTrainable bool `keras:"trainable,not"`
	// Unsafe has no meaning here: rows without categories have zeros. Default: false.
	Unsafe bool `keras:"use_safe_embedding_lookup,not"`

	// Embeddings are the vectors, nil until the layer is built.
	Embeddings *trackable.Variable `keras:"-"`
}

// MarshalConfig returns the column's JSON.
func (e *Embedding) MarshalConfig() (any, error) {
	combiner := e.Combiner
	if combiner == "" {
		combiner = "mean"
	}
	return object("EmbeddingColumn", config.Fields{{Name: "categorical_column", Value: e.Categorical}, {Name: "dimension", Value: e.Dimension}, {Name: "combiner", Value: combiner},
		{Name: "initializer", Value: initial{e.initializer()}}, {Name: "ckpt_to_load_from", Value: e.CkptToLoadFrom}, {Name: "tensor_name_in_ckpt", Value: e.TensorNameInCkpt},
		{Name: "max_norm", Value: e.MaxNorm}, {Name: "trainable", Value: !e.NotTrainable}, {Name: "use_safe_embedding_lookup", Value: !e.Unsafe}})
}

// initial is an initializer in the form of TensorFlow 1, which has a dtype.
type initial struct{ initializers.Initializer }

// MarshalConfig returns the class and the config.
func (i initial) MarshalConfig() (any, error) {
	fields := config.Fields{}
	switch v := i.Initializer.(type) {
	case initializers.TruncatedNormal:
		v = config.Completed(v)
		fields = append(fields, config.Pair{Name: "mean", Value: v.Mean}, config.Pair{Name: "stddev", Value: v.StdDev}, config.Pair{Name: "seed", Value: v.Seed})
	case initializers.RandomNormal:
		v = config.Completed(v)
		fields = append(fields, config.Pair{Name: "mean", Value: v.Mean}, config.Pair{Name: "stddev", Value: v.StdDev}, config.Pair{Name: "seed", Value: v.Seed})
	case initializers.RandomUniform:
		v = config.Completed(v)
		fields = append(fields, config.Pair{Name: "minval", Value: v.Min}, config.Pair{Name: "maxval", Value: v.Max}, config.Pair{Name: "seed", Value: v.Seed})
	case initializers.Zeros, initializers.Ones:
	default:
		return nil, fmt.Errorf("the initializer %T has no form of TensorFlow 1, want TruncatedNormal, RandomNormal, RandomUniform, Zeros or Ones", i.Initializer)
	}
	fields = append(fields, config.Pair{Name: "dtype", Value: "float32"})
	return object(reflect.TypeOf(i.Initializer).Name(), fields)
}

// DecodeConfig reads the config.
func (e *Embedding) DecodeConfig(d *config.Decoder, fields map[string]any) error {
	if i, ok := fields["initializer"].(map[string]any); ok {
		if c, ok := i["config"].(map[string]any); ok {
			if t, ok := c["dtype"]; ok && t != "float32" {
				return fmt.Errorf("initializer: the dtype is %v, want float32", t)
			}
			delete(c, "dtype")
		}
	}
	return d.Fields("EmbeddingColumn", e, fields)
}

func (e *Embedding) initializer() initializers.Initializer {
	if e.Initializer != nil || e.Dimension < 1 {
		return e.Initializer
	}
	return initializers.TruncatedNormal{StdDev: new(deviation(e.Dimension))}
}

func (e *Embedding) columns() []Column { return []Column{e.Categorical} }

func (e *Embedding) check() error {
	switch e.Combiner {
	case "", "mean", "sqrtn", "sum":
	default:
		return fmt.Errorf("column %s: unknown Combiner %q, want mean, sqrtn or sum", e.Name(), e.Combiner)
	}
	switch {
	case e.Dimension < 1:
		return fmt.Errorf("column %s: Dimension is %d, want 1 or more", e.Name(), e.Dimension)
	case e.CkptToLoadFrom != nil:
		return fmt.Errorf("column %s: ckpt_to_load_from is %q; restore the checkpoint by package checkpoint", e.Name(), *e.CkptToLoadFrom)
	case e.MaxNorm != nil && !(*e.MaxNorm > 0):
		return fmt.Errorf("column %s: MaxNorm is %v, want more than 0", e.Name(), *e.MaxNorm)
	}
	return nil
}

// Name returns the name of the categories with the ending "_embedding".
func (e *Embedding) Name() string { return e.Categorical.Name() + "_embedding" }

// Features returns the names of the features.
func (e *Embedding) Features() []string { return e.Categorical.Features() }

// Size returns the size of the vectors.
func (e *Embedding) Size() int { return e.Dimension }

// Weights lists the vectors.
func (e *Embedding) Weights() []base.Weight {
	return []base.Weight{{To: &e.Embeddings, Edge: e.Name() + "/embedding_weights", Shape: tensor.Shape{e.Categorical.Buckets(), e.Dimension},
		DType: tensor.Float32, Init: e.initializer(), NotTrainable: e.NotTrainable}}
}

// Compute returns the combined vectors.
func (e *Embedding) Compute(s *ops.Scope, in *Inputs) *ops.Value {
	ids, weights := e.Categorical.Categories(s, in)
	return e.combined(s, ids, weights)
}

// ComputeSequence returns the combined vectors of each step.
func (e *Embedding) ComputeSequence(s *ops.Scope, in *Inputs) (numbers, lengths *ops.Value) {
	t := stepsOf(s, e.Categorical, in)
	return t.matrix(s, e.combined(s, t.ids, t.weights), e.Dimension), t.lengths
}

// combined returns the combined vectors, float32 [rows, Dimension], as TensorFlow's
// safe_embedding_lookup_sparse: negative categories don't count, and with a Combiner other than
// "sum" neither do weights of 0 or less. weights may be nil.
func (e *Embedding) combined(s *ops.Scope, ids base.Sparse, weights *ops.Value) *ops.Value {
	if e.Embeddings == nil {
		return s.Fail("Column", fmt.Errorf("column %s: the layer isn't built", e.Name()))
	}
	known := ops.GreaterEqual(s, ids.Values, int64(0))
	w := ops.Cast(s, known, tensor.Float32)
	if weights != nil {
		if e.Combiner != "sum" {
			known = ops.And(s, known, ops.Greater(s, weights, float32(0)))
		}
		w = ops.Where(s, known, weights, ops.ZerosLike(s, weights))
	}
	vectors := ops.Gather(s, e.Embeddings, ops.Maximum(s, ids.Values, int64(0)))
	if e.MaxNorm != nil {
		vectors = cut(s, vectors, *e.MaxNorm)
	}
	column := ops.ExpandDims(s, w, 1)
	sum := sumByRow(s, ids, ops.Mul(s, vectors, column))
	switch e.Combiner {
	case "sum":
		return sum
	case "sqrtn":
		return s.Emit1("DivNoNan", nil, sum, ops.Sqrt(s, sumByRow(s, ids, ops.Square(s, column))))
	}
	return s.Emit1("DivNoNan", nil, sum, sumByRow(s, ids, column))
}

// cut shortens rows that are longer than most.
func cut(s *ops.Scope, x *ops.Value, most float64) *ops.Value {
	squares := ops.SumKeep(s, ops.Square(s, x), 1)
	some := ops.Greater(s, squares, float32(0))
	safe := ops.Where(s, some, squares, ops.OnesLike(s, squares))
	norm := ops.Where(s, some, ops.Sqrt(s, safe), squares)
	return ops.Div(s, ops.Mul(s, x, float32(most)), ops.Maximum(s, norm, float32(most)))
}

// deviation returns the deviation of the first vectors of a size.
func deviation(dimension int) float64 { return 1 / math.Sqrt(float64(dimension)) }
