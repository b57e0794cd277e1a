package keras3

import "sync"

// kind is the category of an object of a config.
type kind string

// The kinds, named by their modules in both versions.
const (
	layer       kind = "keras.layers"
	model       kind = "keras"
	initializer kind = "keras.initializers"
	regularizer kind = "keras.regularizers"
	constraint  kind = "keras.constraints"
	optimizer   kind = "keras.optimizers"
	schedule    kind = "keras.optimizers.schedules"
	loss        kind = "keras.losses"
	metric      kind = "keras.metrics"
)

// A class is an entry of the table.
type class struct {
	kind    kind
	name    string // in Keras 2
	three   string // in Keras 3; "" for the same
	options []option
	// named reports whether Keras 3 stores the layer's dtype as a name, without an option trainable.
	named bool
	// call are the names of the positional arguments of a call in Keras 3, the inputs first.
	call []string
	// states reports whether Keras 2 writes the initial states as further inputs.
	states bool
	// refused is the reason why the class can't be translated; "" if it can be.
	refused string
	// inputs is the largest number of inputs of a call in Keras 3. Default: any.
	inputs int
	// check returns an error if options together mean something else in Keras 3.
	check func(conf map[string]any) error
}

// layerOptions are the options of all layers.
var layerOptions = with(
	changed("dtype", policyUp, policyDown),
	ignored2("batch_input_shape"),
	option{two: "dynamic", means: []any{false}},
	only3("autocast", true),
	changed("activation", keep, activationDown),
	changed("recurrent_activation", keep, activationDown),
)

// recurrent are the options of the layers that go over a sequence.
var recurrent = with(only2("time_major", false), ignored2("implementation", "enable_caching_device"), only3("use_cudnn", "auto"))

// random are the options of the layers that draw numbers.
var random = ignored2("rng_type", "force_generator")

// axis is an option with an axis that Keras 2 stores as a list of one. single is the same option of a
// class that takes no longer list in Keras 3.
var axis, single = changed("axis", oneAxis, keep), changed("axis", noList, keep)

// interpolation is a method of resizing images.
var interpolation = changed("interpolation", knownMethod, keep)

const noCode = "its code is Python's and can't be carried over; replace it by a registered layer"

// classes are the classes that differ between the versions; a class that isn't listed is the same
// in both. To add one, add a line: the types class and option explain the fields.
var classes = []class{
	{kind: layer, name: "InputLayer", named: true, options: with(renamed("batch_input_shape", "batch_shape"), only3("optional", false))},
	{kind: layer, name: "Dense", options: with(only3("quantization_config", nil))},
	{kind: layer, name: "EinsumDense", options: with(only3("quantization_config", nil))},
	{kind: layer, name: "Embedding", options: with(ignored2("input_length", "sparse"), only3("quantization_config", nil))},
	{kind: layer, name: "LeakyReLU", options: with(renamed("alpha", "negative_slope"))},
	{kind: layer, name: "ThresholdedReLU", three: "ReLU", options: with(renamed("theta", "threshold"))},
	{kind: layer, name: "Lambda", refused: noCode},
	{kind: layer, name: "DenseFeatures", refused: "Keras 3 has no feature columns"},
	{kind: layer, name: "ConvLSTMCell", refused: "Keras 3 has no such layer that it can load; use ConvLSTM1D, 2D or 3D"},
	{kind: layer, name: "SequenceFeatures", refused: "Keras 3 has no feature columns"},
	{kind: layer, name: "AddLoss", refused: "Keras 3 has no such layer; add the loss in a layer of your own"},
	{kind: layer, name: "RandomFourierFeatures", refused: "Keras 3 has no such layer"},
	{kind: layer, name: "LocallyConnected1D", refused: "Keras 3 has no such layer"},
	{kind: layer, name: "LayerScale", refused: "Keras 3 has no such layer that it can load"},
	{kind: layer, name: "StochasticDepth", refused: "Keras 3 has no such layer that it can load"},
	{kind: layer, name: "LocallyConnected2D", refused: "Keras 3 has no such layer"},
	{kind: layer, name: "RandomHeight", refused: "Keras 3 has no such layer"},
	{kind: layer, name: "RandomWidth", refused: "Keras 3 has no such layer"},

	{kind: layer, name: "BatchNormalization", options: with(single, ignored3("synchronized"), only2("virtual_batch_size", nil), ignored2("fused"),
		only3("renorm", false), ignored3("renorm_clipping", "renorm_momentum"))},
	{kind: layer, name: "SyncBatchNormalization", three: "BatchNormalization", options: with(single, only2("virtual_batch_size", nil), ignored2("fused"))},
	{kind: layer, name: "LayerNormalization", options: with(axis, only3("rms_scaling", false))},
	{kind: layer, name: "UnitNormalization", options: with(axis)},
	{kind: layer, name: "MultiHeadAttention", call: []string{"query", "value", "key", "query_mask", "value_mask", "key_mask", "attention_mask"},
		options: with(ignored2("query_shape", "key_shape", "value_shape", "softmax_robust_masking"), only3("use_gate", false), only3("sliding_window", nil), only3("flash_attention", nil), ignored3("seed"))},
	{kind: layer, name: "Attention", options: with(random, ignored3("seed"))},
	{kind: layer, name: "AdditiveAttention", options: with(random, ignored3("seed", "score_mode"))},
	{kind: layer, name: "Softmax", options: ignored2("robust_masking")},

	{kind: layer, name: "Conv1DTranspose", options: with(only2("groups", 1))},
	{kind: layer, name: "Conv2DTranspose", options: with(only2("groups", 1))},
	{kind: layer, name: "Conv3DTranspose", options: with(only2("groups", 1))},
	{kind: layer, name: "SeparableConv1D", options: with(changed("padding", notCausal, keep), only2("groups", 1), ignored2("kernel_initializer", "kernel_regularizer", "kernel_constraint"))},
	{kind: layer, name: "SeparableConv2D", options: with(only2("groups", 1), ignored2("kernel_initializer", "kernel_regularizer", "kernel_constraint"))},
	{kind: layer, name: "DepthwiseConv1D", options: with(only2("groups", 1), ignored2("kernel_initializer", "kernel_regularizer", "kernel_constraint"))},
	{kind: layer, name: "DepthwiseConv2D", options: with(only2("groups", 1), ignored2("kernel_initializer", "kernel_regularizer", "kernel_constraint"))},
	{kind: layer, name: "ZeroPadding1D", options: with(only3("data_format", "channels_last", nil))},

	{kind: layer, name: "LSTM", states: true, call: []string{"sequences", "initial_state", "mask"}, options: with(recurrent, random, ignored3("seed"))},
	{kind: layer, name: "GRU", states: true, call: []string{"sequences", "initial_state", "mask"}, options: with(recurrent, random, ignored3("seed"))},
	{kind: layer, name: "SimpleRNN", states: true, call: []string{"sequences", "initial_state", "mask"}, options: with(recurrent, random, ignored3("seed"))},
	{kind: layer, name: "RNN", states: true, call: []string{"sequences", "initial_state", "mask"}, options: recurrent},
	{kind: layer, name: "Wrapper", refused: "Keras 3's calls no layer"},
	{kind: layer, name: "Bidirectional", check: bothWays, states: true, call: []string{"sequences", "initial_state", "mask"}},
	{kind: layer, name: "ConvLSTM1D", states: true, call: []string{"sequences", "initial_state", "mask"}, options: with(recurrent, ignored3("seed"))},
	{kind: layer, name: "ConvLSTM2D", states: true, call: []string{"sequences", "initial_state", "mask"}, options: with(recurrent, ignored3("seed"))},
	{kind: layer, name: "ConvLSTM3D", states: true, call: []string{"sequences", "initial_state", "mask"}, options: with(recurrent, ignored3("seed"))},
	{kind: layer, name: "LSTMCell", options: with(recurrent, random, ignored3("seed"))},
	{kind: layer, name: "GRUCell", options: with(recurrent, random, ignored3("seed"))},
	{kind: layer, name: "SimpleRNNCell", options: with(recurrent, random, ignored3("seed"))},

	{kind: layer, name: "Dropout", options: random},
	{kind: layer, name: "AlphaDropout", options: random},
	{kind: layer, name: "GaussianDropout", options: random},
	{kind: layer, name: "GaussianNoise", options: random},
	{kind: layer, name: "SpatialDropout1D", named: true, options: with(random, ignored2("noise_shape"))},
	{kind: layer, name: "SpatialDropout2D", named: true, options: with(random, ignored2("noise_shape"), only3("data_format", "channels_last", nil))},
	{kind: layer, name: "SpatialDropout3D", named: true, options: with(random, ignored2("noise_shape"), only3("data_format", "channels_last", nil))},

	{kind: layer, name: "CategoryEncoding", options: with(only2("sparse", false))},
	{kind: layer, name: "HashedCrossing", named: true, inputs: 2, options: with(only2("salt", nil))},
	{kind: layer, name: "Discretization", named: true, check: hasBins},
	{kind: layer, name: "StringLookup", options: with(lookups, ignored3("oov_method"), only3("salt", nil))},
	{kind: layer, name: "IntegerLookup", options: with(lookups, changed("vocabulary_dtype", int64Only, keep), ignored3("oov_method"), only3("salt", nil))},
	{kind: layer, name: "TextVectorization", options: with(lookups, changed("output_mode", notNull, keep))},
	{kind: layer, name: "CenterCrop", options: with(only3("data_format", "channels_last"))},
	{kind: layer, name: "Resizing", options: with(interpolation, only3("data_format", "channels_last"), only3("pad_to_aspect_ratio", false), ignored3("fill_mode", "fill_value"), only3("antialias", false))},
	{kind: layer, name: "RandomBrightness", options: with(random, only3("data_format", "channels_last"))},
	{kind: layer, name: "RandomContrast", options: with(random, only3("data_format", "channels_last"), only3("value_range", []any{0, 255}))},
	{kind: layer, name: "UpSampling2D", options: with(interpolation)},
	{kind: layer, name: "RandomCrop", refused: "outside of training Keras 2's resizes images, and Keras 3's leaves them as they are; use a Resizing with crop_to_aspect_ratio"},
	{kind: layer, name: "RandomFlip", options: with(random, only3("data_format", "channels_last"))},
	{kind: layer, name: "RandomRotation", options: with(random, only3("data_format", "channels_last"))},
	{kind: layer, name: "RandomTranslation", options: with(random, only3("data_format", "channels_last"))},
	{kind: layer, name: "RandomZoom", options: with(random, only3("data_format", "channels_last"))},

	{kind: initializer, name: "GlorotNormal", options: axes}, {kind: initializer, name: "GlorotUniform", options: axes},
	{kind: initializer, name: "HeNormal", options: axes}, {kind: initializer, name: "HeUniform", options: axes},
	{kind: initializer, name: "LecunNormal", options: axes}, {kind: initializer, name: "LecunUniform", options: axes},
	{kind: initializer, name: "VarianceScaling", options: axes},
	{kind: initializer, name: "Identity", options: with(option{two: "gain", means: []any{1}})},

	{kind: constraint, name: "RadialConstraint", refused: "Keras 3 has no such constraint"},

	{kind: schedule, name: "CosineDecay"},
	{kind: optimizer, name: "LossScaleOptimizer", options: with(only2("dynamic", true), ignored3("name"))},
	{kind: optimizer, name: "LossScaleOptimizerV3", three: "LossScaleOptimizer", options: with(only2("dynamic", true))},
	{kind: optimizer, name: "Adam", options: with(only2("adaptive_epsilon", false))},

	{kind: loss, name: "SparseCategoricalCrossentropy", options: with(only3("axis", -1))},
	{kind: metric, name: "MeanRelativeError", refused: "Keras 3 has no such metric"},
	{kind: metric, name: "MeanTensor", refused: "Keras 3 has no such metric"},
	{kind: metric, name: "SparseTopKCategoricalAccuracy", options: with(only3("from_sorted_ids", false))},
}

// axes are options of initializers.
var axes = with(only3("input_axes", nil), only3("output_axes", nil))

// lookups are options of layers with a vocabulary.
var lookups = ignored2("has_input_vocabulary")

// kindOptions are the options of all classes of a kind.
var kindOptions = map[kind][]option{
	layer: layerOptions,
	model: with(changed("dtype", policyUp, policyDown)),
	optimizer: with(ignored2("jit_compile", "is_legacy_optimizer"), only3("loss_scale_factor", nil), only3("gradient_accumulation_steps", nil),
		only2("decay", 0), option{two: "exclude_from_weight_decay", means: []any{nil}}),
	loss: with(changed("reduction", reductionUp, keep), ignored3("dtype"), ignored2("fn")),
}

// added2 are options that Keras 2 needs in a config, by the kind of its class. A LossScaleOptimizer
// needs none.
var added2 = map[kind]map[string]any{optimizer: {"is_legacy_optimizer": false, "jit_compile": false}}

type key struct {
	kind kind
	name string
}

// tables are the classes by their names in the versions.
type tables struct{ two, three map[key]*class }

var byName = sync.OnceValue(func() tables {
	t := tables{map[key]*class{}, map[key]*class{}}
	for _, c := range classes {
		if c.three == "" {
			c.three = c.name
		}
		t.two[key{c.kind, c.name}] = &c
		if c.three == c.name {
			t.three[key{c.kind, c.three}] = &c
		}
	}
	return t
})

// classOf returns the entry of a class, by its name in the version that is read; nil if the
// versions have the class alike.
func (t *translator) classOf(k kind, name string) *class {
	if t.up {
		return byName().two[key{k, name}]
	}
	return byName().three[key{k, name}]
}
