package optimizers

import (
	"sync/atomic"

	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// keptNumber is a number that an optimizer keeps once: a scalar of the type of the first
// variable that it trains. Only Nadam has one, the product of its momenta. It stays in one field
// of Base, since Base makes it in the order that tf_keras's files have.
type keptNumber struct {
	edge, name       string // in the legacy layout
	newEdge, newName string
	initial          float64

	made     atomic.Bool // read without the optimizer's lock
	variable *trackable.Variable
	read     *ops.Value // its value before the current step
}

// accepts reports whether a checkpoint's value for edge may still find the
// number.
func (k *keptNumber) accepts(edge string, isLegacy bool) bool {
	if k == nil || k.made.Load() {
		return false
	}
	if !isLegacy {
		return edge == k.newEdge
	}
	return edge == k.edge
}

// make makes the number's variable for an optimizer that trains v first. The
// optimizer's lock is held.
func (k *keptNumber) make(o *Base, v *trackable.Variable) error {
	if k == nil || k.made.Load() {
		return nil
	}
	edge, name := k.edge, k.name
	if !o.isLegacy() {
		edge, name = k.newEdge, k.newName
	}
	t, err := initializers.Constant{Value: k.initial}.Init(nil, v.DType(), tensor.Shape{})
	if err != nil {
		return err
	}
	k.variable = trackable.NewVariable(t).Named(o.Name + "/" + name).SetTrainable(false)
	if err := o.Attach(edge, k.variable); err != nil {
		return err
	}
	k.made.Store(true)
	return nil
}
