package losses

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"github.com/cairnml/cairn/keras/config"
)

const module = "keras.losses"

// Classes lists the losses for configs. Names and modules are tf_keras's and must stay. A
// new class is a line here and a struct with the fields Name and Reduction, which NameOf and
// ReductionOf read. A new function is a line in functions.
func Classes() []config.Class {
	list := []config.Class{
		config.Of[BinaryCrossentropy](module, "BinaryCrossentropy"),
		config.Of[BinaryFocalCrossentropy](module, "BinaryFocalCrossentropy"),
		config.Of[CategoricalCrossentropy](module, "CategoricalCrossentropy"),
		config.Of[CategoricalFocalCrossentropy](module, "CategoricalFocalCrossentropy"),
		config.Of[CategoricalHinge](module, "CategoricalHinge"),
		config.Of[CosineSimilarity](module, "CosineSimilarity"),
		config.Of[Hinge](module, "Hinge"),
		config.Of[Huber](module, "Huber"),
		config.Of[KLDivergence](module, "KLDivergence"),
		config.Of[LogCosh](module, "LogCosh"),
		config.Of[MeanAbsoluteError](module, "MeanAbsoluteError"),
		config.Of[MeanAbsolutePercentageError](module, "MeanAbsolutePercentageError"),
		config.Of[MeanSquaredError](module, "MeanSquaredError"),
		config.Of[MeanSquaredLogarithmicError](module, "MeanSquaredLogarithmicError"),
		config.Of[Poisson](module, "Poisson"),
		config.Of[SparseCategoricalCrossentropy](module, "SparseCategoricalCrossentropy"),
		config.Of[SquaredHinge](module, "SquaredHinge"),
	}
	for _, f := range functions {
		list = append(list, config.Function(module, f.name, f, f.aliases...))
	}
	return list
}

var classes = sync.OnceValue(func() *config.Classes { return config.Must(config.New(Classes())) })

// Get returns the loss of an identifier, as tf_keras's losses.get does: nil and a Loss are
// returned themselves; a string is the name of a function, such as "mse", or of a class,
// such as "MeanSquaredError", with its defaults; a json.RawMessage or []byte is a config.
// Programs whose configs have their own classes use keras.FromConfig.
func Get(identifier any) (Loss, error) {
	var data []byte
	switch id := identifier.(type) {
	case nil:
		return nil, nil
	case Loss:
		return id, nil
	case string:
		// Lookup takes a class's name in snake case too, which is a function's name here.
		if t := classes().Lookup(id); t != nil {
			if k, ok := classes().ClassOf(reflect.Zero(t).Interface()); ok && k.Name == id {
				return reflect.Zero(t).Interface().(Loss), nil
			}
		}
		f, err := FunctionByName(id)
		if err != nil {
			return nil, fmt.Errorf("losses: Get: %w", err)
		}
		return f, nil
	case []byte:
		data = id
	case json.RawMessage:
		data = id
	default:
		return nil, fmt.Errorf("losses: Get: got a %T, want a Loss, a name or a config", identifier)
	}
	obj, err := classes().Decode(data)
	if err != nil {
		return nil, fmt.Errorf("losses: Get: %w", err)
	}
	l, ok := obj.(Loss)
	if !ok {
		return nil, fmt.Errorf("losses: Get: a %T is no Loss", obj)
	}
	return l, nil
}

// NameOf returns the name of a loss: the field Name or its default for those of this
// package, the function's name for a [Function], "" for others.
func NameOf(l Loss) string {
	if f, ok := l.(*Function); ok {
		return f.name
	}
	v := reflect.ValueOf(l)
	k, ok := classes().ClassOf(l)
	if !ok {
		return ""
	}
	if name := v.FieldByName("Name").String(); name != "" {
		return name
	}
	if k.Name == "Huber" {
		return "huber_loss"
	}
	return config.SnakeCase(k.Name)
}

// ReductionOf returns the reduction of a loss: the field Reduction of those of this package.
// It is [SumOverBatchSize] if the field is empty or [AutoReduction], and for a [Function], a
// [Func] and others.
func ReductionOf(l Loss) Reduction {
	if _, ok := classes().ClassOf(l); ok {
		if f := reflect.ValueOf(l).FieldByName("Reduction"); f.IsValid() && !f.Interface().(Reduction).mean() {
			return f.Interface().(Reduction)
		}
	}
	return SumOverBatchSize
}
