// Package layers has the layers of Keras 2. A zero value of a layer, with its required
// fields set, has tf_keras's defaults:
//
//	l1 := &layers.Dense{Units: 5}
//	y := l1.Call(s, x)
//
// The fields of a layer are its config, except those with the tag `keras:"-"`. A variable's field has
// the tag `cairn:"-"`, which excludes it from the edges of the object graph: Weights declares the
// variable's edge. Such a field is nil until the layer is built.
package layers

import "github.com/cairnml/cairn/keras/config"

// Classes lists the layers for configs. Modules, names and aliases are those of tf_keras's files and
// must stay; a new layer is a line here.
func Classes() []config.Class {
	const module = "keras.layers"
	return []config.Class{
		config.Of[*Activation](module, "Activation"),
		config.Of[*Dense](module, "Dense"),
		config.Of[*Dropout](module, "Dropout"),
		config.Of[*Flatten](module, "Flatten"),
		config.Of[*InputLayer](module, "InputLayer"),

		// Core, reshaping, merging, activation and regularization layers.
		config.Of[*ActivityRegularization](module, "ActivityRegularization"),
		config.Of[*Add](module, "Add"),
		config.Of[*AdditiveAttention](module, "AdditiveAttention"),
		config.Of[*AlphaDropout](module, "AlphaDropout"),
		config.Of[*Attention](module, "Attention"),
		config.Of[*Average](module, "Average"),
		config.Of[*Concatenate](module, "Concatenate"),
		config.Of[*Dot](module, "Dot"),
		config.Of[*ELU](module, "ELU"),
		config.Of[*EinsumDense](module, "EinsumDense"),
		config.Of[*Embedding](module, "Embedding"),
		config.Of[*GaussianDropout](module, "GaussianDropout"),
		config.Of[*GaussianNoise](module, "GaussianNoise"),
		config.Of[*Identity](module, "Identity"),
		config.Of[*Lambda](module, "Lambda"),
		config.Of[*LeakyReLU](module, "LeakyReLU"),
		config.Of[*Masking](module, "Masking"),
		config.Of[*Maximum](module, "Maximum"),
		config.Of[*Minimum](module, "Minimum"),
		config.Of[*MultiHeadAttention](module, "MultiHeadAttention"),
		config.Of[*Multiply](module, "Multiply"),
		config.Of[*Normalization](module, "Normalization"),
		config.Of[*PReLU](module, "PReLU"),
		config.Of[*Permute](module, "Permute"),
		config.Of[*RandomFourierFeatures](module+".experimental", "RandomFourierFeatures"),
		config.Function(module, "gaussian", GaussianKernel),
		config.Function(module, "laplacian", LaplacianKernel),
		config.Of[*ReLU](module, "ReLU"),
		config.Of[*RepeatVector](module, "RepeatVector"),
		config.Of[*Rescaling](module, "Rescaling"),
		config.Of[*Reshape](module, "Reshape"),
		config.Of[*Softmax](module, "Softmax"),
		config.Of[*SpatialDropout1D](module, "SpatialDropout1D"),
		config.Of[*SpatialDropout2D](module, "SpatialDropout2D"),
		config.Of[*SpatialDropout3D](module, "SpatialDropout3D"),
		config.Of[*Subtract](module, "Subtract"),
		config.Of[*ThresholdedReLU](module, "ThresholdedReLU"),

		// Convolutions.
		config.Of[*Conv1D](module, "Conv1D", "Convolution1D"),
		config.Of[*Conv1DTranspose](module, "Conv1DTranspose", "Convolution1DTranspose"),
		config.Of[*Conv2D](module, "Conv2D", "Convolution2D"),
		config.Of[*Conv2DTranspose](module, "Conv2DTranspose", "Convolution2DTranspose"),
		config.Of[*Conv3D](module, "Conv3D", "Convolution3D"),
		config.Of[*Conv3DTranspose](module, "Conv3DTranspose", "Convolution3DTranspose"),
		config.Of[*DepthwiseConv1D](module, "DepthwiseConv1D"),
		config.Of[*DepthwiseConv2D](module, "DepthwiseConv2D"),
		config.Of[*LocallyConnected1D](module, "LocallyConnected1D"),
		config.Of[*LocallyConnected2D](module, "LocallyConnected2D"),
		config.Of[*SeparableConv1D](module, "SeparableConv1D", "SeparableConvolution1D"),
		config.Of[*SeparableConv2D](module, "SeparableConv2D", "SeparableConvolution2D"),

		// Pooling, borders and sizes.
		config.Of[*AveragePooling1D](module, "AveragePooling1D", "AvgPool1D"),
		config.Of[*AveragePooling2D](module, "AveragePooling2D", "AvgPool2D"),
		config.Of[*AveragePooling3D](module, "AveragePooling3D", "AvgPool3D"),
		config.Of[*MaxPooling1D](module, "MaxPooling1D", "MaxPool1D"),
		config.Of[*MaxPooling2D](module, "MaxPooling2D", "MaxPool2D"),
		config.Of[*MaxPooling3D](module, "MaxPooling3D", "MaxPool3D"),
		config.Of[*GlobalAveragePooling1D](module, "GlobalAveragePooling1D", "GlobalAvgPool1D"),
		config.Of[*GlobalAveragePooling2D](module, "GlobalAveragePooling2D", "GlobalAvgPool2D"),
		config.Of[*GlobalAveragePooling3D](module, "GlobalAveragePooling3D", "GlobalAvgPool3D"),
		config.Of[*GlobalMaxPooling1D](module, "GlobalMaxPooling1D", "GlobalMaxPool1D"),
		config.Of[*GlobalMaxPooling2D](module, "GlobalMaxPooling2D", "GlobalMaxPool2D"),
		config.Of[*GlobalMaxPooling3D](module, "GlobalMaxPooling3D", "GlobalMaxPool3D"),
		config.Of[*Cropping1D](module, "Cropping1D"),
		config.Of[*Cropping2D](module, "Cropping2D"),
		config.Of[*Cropping3D](module, "Cropping3D"),
		config.Of[*UpSampling1D](module, "UpSampling1D"),
		config.Of[*UpSampling2D](module, "UpSampling2D"),
		config.Of[*UpSampling3D](module, "UpSampling3D"),
		config.Of[*ZeroPadding1D](module, "ZeroPadding1D"),
		config.Of[*ZeroPadding2D](module, "ZeroPadding2D"),
		config.Of[*ZeroPadding3D](module, "ZeroPadding3D"),

		// Normalization.
		config.Of[*BatchNormalization](module, "BatchNormalization", "BatchNormalizationV1", "BatchNormalizationV2"),
		config.Of[*GroupNormalization](module, "GroupNormalization"),
		config.Of[*LayerNormalization](module, "LayerNormalization"),
		config.Of[*SpectralNormalization](module, "SpectralNormalization"),
		config.Of[*SyncBatchNormalization](module+".experimental", "SyncBatchNormalization"),
		config.Of[*UnitNormalization](module, "UnitNormalization"),

		// Categories.
		config.Of[*CategoryEncoding](module, "CategoryEncoding"),
		config.Of[*DenseFeatures](module, "DenseFeatures"),
		config.PrivateOf[*AddLoss]("tf_keras.src.engine.base_layer", "AddLoss"),
		config.Of[*SequenceFeatures]("keras.experimental", "SequenceFeatures"),
		config.Of[*Discretization](module, "Discretization"),
		config.Of[*HashedCrossing](module, "HashedCrossing"),
		config.Of[*Hashing](module, "Hashing"),
		config.Of[*IntegerLookup](module, "IntegerLookup"),
		config.Of[*StringLookup](module, "StringLookup"),
		config.Of[*TextVectorization](module, "TextVectorization"),

		// Images.
		config.Of[*CenterCrop](module, "CenterCrop"),
		config.Of[*RandomBrightness](module, "RandomBrightness"),
		config.Of[*RandomContrast](module, "RandomContrast"),
		config.Of[*RandomCrop](module, "RandomCrop"),
		config.Of[*RandomFlip](module, "RandomFlip"),
		config.Of[*RandomHeight](module, "RandomHeight"),
		config.Of[*RandomRotation](module, "RandomRotation"),
		config.Of[*RandomTranslation](module, "RandomTranslation"),
		config.Of[*RandomWidth](module, "RandomWidth"),
		config.Of[*RandomZoom](module, "RandomZoom"),
		config.Of[*Resizing](module, "Resizing"),

		// Recurrent layers.
		config.Of[*Bidirectional](module, "Bidirectional"),
		config.Of[*ConvLSTM1D](module, "ConvLSTM1D"),
		config.Of[*ConvLSTM2D](module, "ConvLSTM2D"),
		config.Of[*ConvLSTM3D](module, "ConvLSTM3D"),
		config.Of[*GRU](module, "GRU"),
		config.Of[*GRUCell](module, "GRUCell"),
		config.Of[*LSTM](module, "LSTM"),
		config.Of[*LSTMCell](module, "LSTMCell"),
		config.Of[*RNN](module, "RNN"),
		config.Of[*SimpleRNN](module, "SimpleRNN"),
		config.Of[*SimpleRNNCell](module, "SimpleRNNCell"),
		config.Of[*StackedRNNCells](module, "StackedRNNCells"),
		config.Of[*TimeDistributed](module, "TimeDistributed"),
		config.Of[*Wrapper](module, "Wrapper"),

		// Functions of TensorFlow.
		config.PrivateOf[*TFOpLambda]("tf_keras.src.layers.core.tf_op_layer", "TFOpLambda"),
		config.PrivateOf[*SlicingOpLambda]("tf_keras.src.layers.core.tf_op_layer", "SlicingOpLambda"),

		// Layers of applications.
		config.PrivateOf[*LayerScale]("tf_keras.src.applications.convnext", "LayerScale"),
		config.PrivateOf[*StochasticDepth]("tf_keras.src.applications.convnext", "StochasticDepth"),
	}
}
