package base

import "github.com/cairnml/cairn/trackable"

// SetTrainable sets whether optimizers change the variables of a layer or model and of all
// layers below it, as assigning to trainable does in tf_keras. A layer that is not trainable
// may compute otherwise in training: a BatchNormalization uses its averages. It sets all layers,
// and returns the first error of a config.
func SetTrainable(obj trackable.Trackable, on bool) error {
	var failed error
	eachObject(obj, func(obj trackable.Trackable) {
		l, ok := obj.(LayerLike)
		if !ok {
			return
		}
		if err := Complete(l); err != nil && failed == nil {
			failed = err
		}
		l.AsLayer().NotTrainable = !on
	})
	return failed
}
