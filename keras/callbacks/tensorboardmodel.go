package callbacks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// This file has the parts of the callback TensorBoard that write more than numbers: the model's
// config, images of weights, and files of the projector.

// closed syncs and closes a file that was written to with the error err.
func closed(file vfs.File, err error) error {
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// model writes the config of a model that is a network of layers, which TensorBoard draws.
func (e *eventFile) model(r *Run) error {
	described, ok := r.Model.(interface{ ToJSON() ([]byte, error) })
	if !ok {
		return nil
	}
	text, err := described.ToJSON()
	if err != nil {
		r.Printf("WARNING: TensorBoard: the model has no config, so that it isn't drawn: %v\n", err)
		return nil
	}
	return e.tensorOf(0, "keras", "graph_keras_model", []byte("1"), tensorData, tensor.Scalar(string(text)))
}

// mostImages is the largest number of images of a weight that are written: max_outputs of
// tf.summary.image.
const mostImages = 3

// image writes a weight as images: a matrix as one, wider than high, a tensor of 3 dimensions
// as one for each index of the last. Others are left out, as in tf_keras.
func (e *eventFile) image(ctx context.Context, step int64, tag string, t *tensor.Tensor) error {
	var shape tensor.Shape
	for _, n := range t.Shape() {
		if n != 1 {
			shape = append(shape, n)
		}
	}
	s := function.Eager(ctx)
	x := ops.Const(s, t)
	switch len(shape) {
	case 1:
		x = ops.Reshape(s, x, 1, shape[0], 1, 1)
	case 2:
		x = ops.Reshape(s, x, shape...)
		if shape[0] > shape[1] {
			x = ops.Transpose(s, x)
			shape = tensor.Shape{shape[1], shape[0]}
		}
		x = ops.Reshape(s, x, 1, shape[0], shape[1], 1)
	case 3:
		x = ops.Transpose(s, ops.Reshape(s, x, shape...), 2, 0, 1)
		x = ops.Reshape(s, x, shape[2], shape[0], shape[1], 1)
	case 4:
		if c := shape[3]; c != 1 && c != 3 && c != 4 {
			return nil
		}
	default:
		return nil
	}
	if s.Err() != nil {
		return s.Err()
	}
	size := x.Shape()
	out := []string{strconv.Itoa(size[2]), strconv.Itoa(size[1])}
	for i := range min(size[0], mostImages) {
		pixels := ops.Gather(s, x, int32(i))
		if pixels.DType().IsFloating() { // as convert_image_dtype with saturation
			pixels = ops.Mul(s, ops.Cast(s, pixels, tensor.Float32), float32(255.5))
			pixels = ops.Maximum(s, ops.Minimum(s, pixels, float32(255)), float32(0))
		}
		png, err := raw.EncodePng(s, ops.Cast(s, pixels, tensor.Uint8), nil).Tensor()
		if err != nil {
			return err
		}
		out = append(out, tensor.Values[string](png)[0])
	}
	return e.tensorOf(step, tag, "images", nil, tensorData, tensor.Vector(out...))
}

// embeddings writes the file that describes the embeddings for TensorBoard's projector,
// in the text that tf_keras writes.
func (b *TensorBoard) embeddings(r *Run, dir vfs.Dir, log string) error {
	rest := maps.Clone(b.EmbeddingsMetadata)
	var text strings.Builder
	g, err := trackable.Walk(r.Model, &trackable.WalkOptions{NoSlots: true})
	if err != nil {
		return err
	}
	for i := range g.Nodes {
		layer, ok := g.Nodes[i].Object.(interface {
			base.LayerLike
			IsEmbedding()
		})
		if !ok {
			continue
		}
		name := layer.AsLayer().Name
		path, named := rest[name]
		if !named {
			path = b.EmbeddingsMetadata[""]
		}
		delete(rest, name)
		text.WriteString("embeddings {\n  tensor_name: \"layer_with_weights-0/embeddings/.ATTRIBUTES/VARIABLE_VALUE\"\n")
		if path != "" {
			fmt.Fprintf(&text, "  metadata_path: %q\n", path)
		}
		text.WriteString("}\n")
	}
	delete(rest, "")
	if len(rest) > 0 {
		return fmt.Errorf("EmbeddingsMetadata names %q, and no Embedding layer has this name", slices.Sorted(maps.Keys(rest)))
	}
	file, err := dir.Create(log + "/projector_config.pbtxt")
	if err != nil {
		return err
	}
	_, err = file.Write([]byte(text.String()))
	return closed(file, err)
}

// saveEmbeddings saves the weights of the model for TensorBoard's projector.
func (b *TensorBoard) saveEmbeddings(ctx context.Context, r *Run, epoch int) error {
	dir, log := b.directory()
	saver := &ModelCheckpoint{Filepath: log + "/train/keras_embedding.ckpt", Dir: dir}
	if err := saver.OnTrainBegin(ctx, r); err != nil {
		return err
	}
	return saver.write(ctx, fmt.Sprintf("%s-%d", saver.Filepath, epoch))
}
