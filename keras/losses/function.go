package losses

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/nearest"
)

// Function is a loss that configs refer to by a name of tf_keras's functions, such as
// "mse". Its reduction is [SumOverBatchSize].
type Function struct {
	Func
	name    string
	aliases []string
}

// Name returns the name in configs, such as "mean_squared_error".
func (f *Function) Name() string { return f.name }

// Aliases returns the other names of the function.
func (f *Function) Aliases() []string { return f.aliases }

// NewFunction returns a function with a name and further names.
func NewFunction(name string, f Func, aliases ...string) *Function {
	return &Function{Func: f, name: name, aliases: aliases}
}

// functions are tf_keras's functions, with the defaults of their options. Names and aliases are
// those of its losses.get.
var functions = []*Function{
	NewFunction("binary_crossentropy", BinaryCrossentropy{}.Call, "bce", "BCE"),
	NewFunction("binary_focal_crossentropy", BinaryFocalCrossentropy{}.Call),
	NewFunction("categorical_crossentropy", CategoricalCrossentropy{}.Call),
	NewFunction("categorical_focal_crossentropy", CategoricalFocalCrossentropy{}.Call),
	NewFunction("categorical_hinge", CategoricalHinge{}.Call),
	NewFunction("cosine_similarity", CosineSimilarity{}.Call),
	NewFunction("hinge", Hinge{}.Call),
	NewFunction("huber", Huber{}.Call, "huber_loss"),
	NewFunction("kl_divergence", KLDivergence{}.Call, "kullback_leibler_divergence", "kld", "KLD"),
	NewFunction("log_cosh", LogCosh{}.Call, "logcosh"),
	NewFunction("mean_absolute_error", MeanAbsoluteError{}.Call, "mae", "MAE"),
	NewFunction("mean_absolute_percentage_error", MeanAbsolutePercentageError{}.Call, "mape", "MAPE"),
	NewFunction("mean_squared_error", MeanSquaredError{}.Call, "mse", "MSE"),
	NewFunction("mean_squared_logarithmic_error", MeanSquaredLogarithmicError{}.Call, "msle", "MSLE"),
	NewFunction("poisson", Poisson{}.Call),
	NewFunction("sparse_categorical_crossentropy", SparseCategoricalCrossentropy{}.Call),
	NewFunction("squared_hinge", SquaredHinge{}.Call),
}

// Functions lists tf_keras's functions.
func Functions() []*Function { return slices.Clone(functions) }

// FunctionByName returns the function of tf_keras's that has a name or an alias, such as
// "mean_squared_error" or "mse". An unknown name is an error with the nearest known ones.
func FunctionByName(name string) (*Function, error) { return FindFunction(name, functions) }

// FindFunction returns the function with a name or an alias in a list.
func FindFunction(name string, list []*Function) (*Function, error) {
	var known []string
	for _, f := range list {
		for _, n := range append([]string{f.name}, f.aliases...) {
			if n == name {
				return f, nil
			}
			known = append(known, n)
		}
	}
	return nil, fmt.Errorf("no function is called %q; similar names: %s", name, strings.Join(nearest.Names(name, known, 3), ", "))
}
