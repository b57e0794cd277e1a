package initializers

import "github.com/cairnml/cairn/keras/config"

const module = "keras.initializers"

// Classes lists the initializers for configs. Names and aliases are those of tf_keras's
// initializers.get; keras.Classes and the defaults of layers contain them.
func Classes() []config.Class {
	return []config.Class{
		config.Of[Zeros](module, "Zeros"),
		config.Of[Ones](module, "Ones"),
		config.Of[Constant](module, "Constant"),
		config.Of[RandomUniform](module, "RandomUniform", "uniform"),
		config.Of[RandomNormal](module, "RandomNormal", "normal"),
		config.Of[TruncatedNormal](module, "TruncatedNormal"),
		config.Of[VarianceScaling](module, "VarianceScaling"),
		config.Of[GlorotUniform](module, "GlorotUniform"),
		config.Of[GlorotNormal](module, "GlorotNormal"),
		config.Of[HeUniform](module, "HeUniform"),
		config.Of[HeNormal](module, "HeNormal"),
		config.Of[LecunUniform](module, "LecunUniform"),
		config.Of[LecunNormal](module, "LecunNormal"),
		config.Of[Orthogonal](module, "Orthogonal"),
		config.Of[Identity](module, "Identity", "IdentityInitializer"),
		config.PrivateOf[TensorFlowConstant]("tensorflow.python.ops.init_ops_v2", "Constant"),
	}
}
