package digits

import (
	"bytes"
	"embed"
	"io/fs"

	"github.com/cairnml/cairn/tensor"
)

//go:embed all:model
var model embed.FS

//go:embed answers.npy
var answers []byte

// Model returns the directory of a SavedModel that reads the digits: a small
// convolutional network, trained and saved by tf_keras (make_model.py). Its input
// is "image", float32 [?,8,8,1] of pixels from 0 to Black, its output
// "probabilities".
func Model() (fs.FS, error) { return fs.Sub(model, "model") }

// Answers returns TensorFlow 2.21's outputs for the held-out images, those whose
// number leaves 4 when divided by 5: float32 [359,10].
func Answers() (*tensor.Tensor, error) { return tensor.ReadNPY(bytes.NewReader(answers)) }
