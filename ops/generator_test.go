package ops_test

// The numbers that tf.random.Generator.from_seed(1234) of TensorFlow 2.21
// draws.
var (
	generatorUniform   = []float64{0.3581475019454956, 0.11322760581970215, 0.566709041595459}
	generatorNormal    = []float64{1.1264245510101318, -1.0338292121887207, 0.2571070194244385}
	generatorTruncated = []float64{-0.3964749276638031, 0.8369565606117249, -0.30946946144104004}
	generatorInts      = []float64{572.0, 94.0, 737.0}
)
