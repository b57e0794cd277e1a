package optimizers

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/optimizers/schedules"
)

// class describes an optimizer whose constructor has tf_keras's defaults. rate is tf_keras's
// default rate. Names in lower case are those of optimizers.get; those with "Custom>" are in
// SavedModels.
func class[T Optimizer](name string, rate float64, construct func(rate float64) T, aliases ...string) config.Class {
	c := config.Of[T](module, name, append(aliases, strings.ToLower(name), "Custom>"+name)...)
	c.New = func() any { return construct(rate) }
	return c
}

// Classes lists the optimizers for configs. A new optimizer is a line here.
func Classes() []config.Class {
	scaled := config.Of[*LossScaleOptimizer](scaleModule, "LossScaleOptimizer", "LossScaleOptimizerV1", "LossScaleOptimizerV3", "lossscaleoptimizer", "lossscaleoptimizerv1", "lossscaleoptimizerv3")
	scaled.Private = true
	return []config.Class{
		class("Adadelta", 0.001, NewAdadelta),
		class("Adafactor", 0.001, NewAdafactor),
		class("Adagrad", 0.001, NewAdagrad),
		class("Adam", 0.001, NewAdam),
		class("AdamW", 0.001, NewAdamW),
		class("Adamax", 0.001, NewAdamax),
		class("Ftrl", 0.001, NewFtrl),
		class("Lion", 0.0001, NewLion),
		class("Nadam", 0.001, NewNadam),
		class("RMSprop", 0.001, NewRMSprop, "RMSProp"),
		class("SGD", 0.01, NewSGD),
		scaled,
	}
}

var classes = sync.OnceValue(func() *config.Classes { return config.Must(config.New(Classes(), schedules.Classes())) })

// Get returns the optimizer of an identifier: an Optimizer is returned itself; a string is
// a class's name in any case, for an optimizer of the new family with tf_keras's
// defaults; a json.RawMessage or []byte is a config. Programs whose configs have their own
// classes use keras.FromConfig.
func Get(identifier any) (Optimizer, error) {
	var obj any
	var err error
	switch id := identifier.(type) {
	case Optimizer:
		return id, nil
	case string:
		obj, err = named(id)
	case []byte:
		obj, err = classes().Decode(id)
	case json.RawMessage:
		obj, err = classes().Decode(id)
	default:
		return nil, fmt.Errorf("optimizers: Get: got a %T, want an Optimizer, a name or a config", identifier)
	}
	if err != nil {
		return nil, fmt.Errorf("optimizers: Get: %w", err)
	}
	o, ok := obj.(Optimizer)
	if !ok {
		return nil, fmt.Errorf("optimizers: Get: a %T is no optimizer", obj)
	}
	return o, nil
}

// named returns a new optimizer of the class with that name.
func named(name string) (any, error) {
	data, err := json.Marshal(strings.ToLower(name))
	if err != nil {
		return nil, err
	}
	return classes().Decode(data)
}
