package metrics

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/tensor"
)

const (
	module        = "keras.metrics"
	privateModule = "tf_keras.src.metrics.base_metric"
)

// functions are tf_keras's functions that aren't losses too, or have other aliases or values here.
var functions = []*losses.Function{
	losses.NewFunction("accuracy", equal, "acc", "ACC"),
	losses.NewFunction("binary_accuracy", binaryAccuracy),
	losses.NewFunction("categorical_accuracy", categoricalAccuracy),
	losses.NewFunction("sparse_categorical_accuracy", sparseCategoricalAccuracy),
	losses.NewFunction("top_k_categorical_accuracy", new(TopKCategoricalAccuracy).matches),
	losses.NewFunction("sparse_top_k_categorical_accuracy", new(SparseTopKCategoricalAccuracy).matches),
	losses.NewFunction("cosine_similarity", new(CosineSimilarity).cosine, "cosine_proximity"),
}

// FunctionByName returns the function that tf_keras's metrics have under a name or an
// alias, such as "binary_accuracy" or "mse". An unknown name is an error with the nearest
// known ones.
func FunctionByName(name string) (*losses.Function, error) {
	if f, err := losses.FindFunction(name, functions); err == nil {
		return f, nil
	}
	if f, err := losses.FunctionByName(name); err == nil {
		return f, nil
	}
	_, err := losses.FindFunction(name, append(losses.Functions(), functions...))
	return nil, err
}

// Classes lists the metrics for configs. Names and modules are tf_keras's and must stay; a new metric
// is a line here.
func Classes() []config.Class {
	list := []config.Class{
		config.Of[*AUC](module, "AUC"),
		config.Of[*Accuracy](module, "Accuracy"),
		config.Of[*BinaryAccuracy](module, "BinaryAccuracy"),
		config.Of[*BinaryCrossentropy](module, "BinaryCrossentropy"),
		config.Of[*BinaryIoU](module, "BinaryIoU"),
		config.Of[*CategoricalAccuracy](module, "CategoricalAccuracy"),
		config.Of[*CategoricalCrossentropy](module, "CategoricalCrossentropy"),
		config.Of[*CategoricalHinge](module, "CategoricalHinge"),
		config.Of[*CosineSimilarity](module, "CosineSimilarity"),
		config.Of[*F1Score](module, "F1Score"),
		config.Of[*FBetaScore](module, "FBetaScore"),
		config.Of[*FalseNegatives](module, "FalseNegatives"),
		config.Of[*FalsePositives](module, "FalsePositives"),
		config.Of[*Hinge](module, "Hinge"),
		config.Of[*IoU](module, "IoU"),
		config.Of[*KLDivergence](module, "KLDivergence"),
		config.Of[*LogCoshError](module, "LogCoshError"),
		config.Of[*Mean](module, "Mean"),
		config.Of[*MeanAbsoluteError](module, "MeanAbsoluteError"),
		config.Of[*MeanAbsolutePercentageError](module, "MeanAbsolutePercentageError"),
		config.Of[*MeanIoU](module, "MeanIoU"),
		config.Of[*MeanMetricWrapper](module, "MeanMetricWrapper"),
		config.Of[*MeanRelativeError](module, "MeanRelativeError"),
		config.Of[*MeanSquaredError](module, "MeanSquaredError"),
		config.Of[*MeanSquaredLogarithmicError](module, "MeanSquaredLogarithmicError"),
		config.Of[*MeanTensor](module, "MeanTensor"),
		config.Of[*OneHotIoU](module, "OneHotIoU"),
		config.Of[*OneHotMeanIoU](module, "OneHotMeanIoU"),
		config.Of[*Poisson](module, "Poisson"),
		config.Of[*Precision](module, "Precision"),
		config.Of[*PrecisionAtRecall](module, "PrecisionAtRecall"),
		config.Of[*R2Score](module, "R2Score"),
		config.Of[*Recall](module, "Recall"),
		config.Of[*RecallAtPrecision](module, "RecallAtPrecision"),
		config.Of[*RootMeanSquaredError](module, "RootMeanSquaredError"),
		config.Of[*SensitivityAtSpecificity](module, "SensitivityAtSpecificity"),
		config.Of[*SparseCategoricalAccuracy](module, "SparseCategoricalAccuracy"),
		config.Of[*SparseCategoricalCrossentropy](module, "SparseCategoricalCrossentropy"),
		config.Of[*SparseTopKCategoricalAccuracy](module, "SparseTopKCategoricalAccuracy"),
		config.Of[*SpecificityAtSensitivity](module, "SpecificityAtSensitivity"),
		config.Of[*SquaredHinge](module, "SquaredHinge"),
		config.Of[*Sum](module, "Sum"),
		config.Of[*TopKCategoricalAccuracy](module, "TopKCategoricalAccuracy"),
		config.Of[*TrueNegatives](module, "TrueNegatives"),
		config.Of[*TruePositives](module, "TruePositives"),
		config.PrivateOf[*SumOverBatchSize](privateModule, "SumOverBatchSize"),
		config.PrivateOf[*SumOverBatchSizeMetricWrapper](privateModule, "SumOverBatchSizeMetricWrapper"),
	}
	for _, f := range functions {
		list = append(list, config.Function(module, f.Name(), f, f.Aliases()...))
	}
	return list
}

// own are the classes of this package; classes also has the losses, to which configs of metrics
// refer.
var (
	own     = sync.OnceValue(func() *config.Classes { return config.Must(config.New(Classes())) })
	classes = sync.OnceValue(func() *config.Classes { return config.Must(own().With(losses.Classes())) })
)

// Get returns the metric of an identifier, as tf_keras's metrics.get and compile do:
//
//   - an Accumulator is returned itself;
//   - a string is the name of a class, such as "AUC", or of a function, such as "mse", whose
//     mean is then the metric, under that name;
//   - a losses.Loss is the mean of its values;
//   - a json.RawMessage or []byte is a config.
//
// Programs whose configs have their own classes use keras.FromConfig.
func Get(identifier any) (Accumulator, error) {
	var data []byte
	switch id := identifier.(type) {
	case Accumulator:
		return id, nil
	case losses.Loss:
		return wrapped(id, losses.NameOf(id)), nil
	case string:
		if t := own().Lookup(id); t != nil {
			m := reflect.New(t.Elem()).Interface()
			if k, _ := own().ClassOf(m); k.Name == id {
				return m.(Accumulator), nil
			}
		}
		f, err := FunctionByName(id)
		if err != nil {
			return nil, fmt.Errorf("metrics: Get: %w", err)
		}
		return wrapped(f, id), nil
	case []byte:
		data = id
	case json.RawMessage:
		data = id
	default:
		return nil, fmt.Errorf("metrics: Get: got a %T, want a metric, a loss, a name or a config", identifier)
	}
	obj, err := classes().Decode(data)
	if err != nil {
		return nil, fmt.Errorf("metrics: Get: %w", err)
	}
	switch m := obj.(type) {
	case Accumulator:
		return m, nil
	case *losses.Function:
		return wrapped(m, m.Name()), nil
	}
	return nil, fmt.Errorf("metrics: Get: a %T is no metric", obj)
}

// wrapped returns the mean of a function as a metric of a name.
func wrapped(f losses.Loss, name string) *MeanMetricWrapper {
	m := &MeanMetricWrapper{Fn: f}
	m.Name = name
	return m
}

// For returns the metric of an identifier when a model whose outputs and truths have
// these shapes is compiled. "accuracy", "acc", "crossentropy" and "ce" in any case mean
// the binary kind if the outputs' last size is 1, the sparse categorical kind if the
// truth has fewer dimensions or a last size of 1, and the categorical kind otherwise.
// [Get] makes the others.
func For(identifier any, truth, predicted tensor.Shape) (Metric, error) {
	if name, ok := identifier.(string); ok {
		kinds := map[string]string{"accuracy": "accuracy", "acc": "accuracy", "crossentropy": "crossentropy", "ce": "crossentropy"}
		if kind := kinds[strings.ToLower(name)]; kind != "" {
			if truth == nil || len(predicted) == 0 {
				return nil, fmt.Errorf("metrics: %s: needs shapes of truths and predictions with a known rank (got %v and %v)", name, truth, predicted)
			}
			last := predicted[len(predicted)-1]
			switch {
			case last == 1:
				kind = "binary_" + kind
			case len(truth) < len(predicted) || truth[len(truth)-1] == 1 && last > 1:
				kind = "sparse_categorical_" + kind
			default:
				kind = "categorical_" + kind
			}
			f, err := FunctionByName(kind)
			if err != nil {
				return nil, fmt.Errorf("metrics: %w", err)
			}
			return wrapped(f, name), nil
		}
	}
	m, err := Get(identifier)
	if err != nil {
		return nil, err
	}
	metric, ok := m.(Metric)
	if !ok {
		return nil, fmt.Errorf("metrics: a %T takes values, not truths and predictions", m)
	}
	return metric, nil
}
