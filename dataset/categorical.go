package dataset

import (
	"fmt"

	"github.com/cairnml/cairn/tensor"
)

// CategoricalOptions are the options of [Categorical].
type CategoricalOptions struct {
	// Classes is the number of classes. Default: the largest label plus 1.
	Classes int
	// DType is the type of the result, a numeric one. Default: Float32.
	DType tensor.DType
}

// Categorical makes a row of zeros with a single 1 of each label, as tf.keras.utils.to_categorical does. The
// classes are the result's last dimension; a last dimension of 1 of the labels is left out. Labels are
// integers, or numbers that are truncated. A negative label counts from the end, as in numpy. Programs call it
// for trainings with a categorical loss; no package of this module does. The values must stay those of tf_keras.
func Categorical(labels *tensor.Tensor, o *CategoricalOptions) (*tensor.Tensor, error) {
	fail := func(err error) (*tensor.Tensor, error) { return nil, fmt.Errorf("dataset: Categorical: %w", err) }
	if o == nil {
		o = &CategoricalOptions{}
	}
	whole, err := tensor.Cast(labels, tensor.Int64)
	if err != nil {
		return fail(err)
	}
	list := tensor.Values[int64](whole)
	n := int64(o.Classes)
	if n < 0 {
		return fail(fmt.Errorf("the number of classes is %d, want 0 or more", n))
	}
	if n == 0 {
		if len(list) == 0 {
			return fail(fmt.Errorf("there are no labels to count the classes of; set Classes"))
		}
		for _, x := range list {
			n = max(n, x+1)
		}
	}
	shape := labels.Shape().Clone()
	if len(shape) > 1 && shape[len(shape)-1] == 1 {
		shape = shape[:len(shape)-1]
	}
	if int64(int(n)) != n {
		return fail(fmt.Errorf("there are too many classes (got %d)", n))
	}
	out, err := tensor.Zeros(tensor.Uint8, append(shape, int(n))...)
	if err != nil {
		return fail(err)
	}
	rows := out.Bytes()
	for i, x := range list {
		if x < -n || x >= n {
			return fail(fmt.Errorf("label %d is %d, want below %d; set Classes to the number of all classes", i, x, n))
		}
		rows[int64(i)*n+(x+n)%n] = 1
	}
	d := o.DType
	if d == tensor.Invalid {
		d = tensor.Float32
	}
	if out, err = tensor.Cast(out, d); err != nil {
		return fail(err)
	}
	return out, nil
}
