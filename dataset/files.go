package dataset

import (
	"context"
	"fmt"
	"os"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TextOptions are the options of [Directory.Texts].
type TextOptions struct {
	// MaxLength is the most bytes of a text; the rest is cut off. Default: the whole file.
	MaxLength int
}

// Texts makes a dataset of the files' contents, string scalars.
func (d *Directory) Texts(o *TextOptions) *Dataset[*tensor.Tensor] {
	return unlabeled("Texts", d, textLoader(o))
}

// LabeledTexts makes a dataset of the files' contents, string scalars, and their labels.
func (d *Directory) LabeledTexts(mode LabelMode, o *TextOptions) *Dataset[Example] {
	return labeled("LabeledTexts", d, mode, textLoader(o))
}

func textLoader(o *TextOptions) loader {
	var limit int
	if o != nil {
		limit = o.MaxLength
	}
	return func(_ context.Context, file string) (*tensor.Tensor, error) {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if limit > 0 && len(text) > limit {
			text = text[:limit]
		}
		return tensor.FromStrings(tensor.String, []string{string(text)})
	}
}

// ImageOptions are the options of [Directory.Images].
type ImageOptions struct {
	// Channels is 1 for gray, 3 for colors, or 4 for colors and opacity. Default: 3.
	Channels int
	// Height and Width are the size that images are resized to. Default: 256.
	Height, Width int
	// Method is the way to compute pixels. Default: bilinear.
	Method ResizeMethod
	// Crop cuts the middle of an image in the ratio of Height and Width before it is
	// resized. Default: the image is stretched.
	Crop bool
}

// ResizeMethod is a way to compute the pixels of images of another size.
type ResizeMethod string

// The ways to compute pixels, by tf_keras's names.
const (
	Bilinear      ResizeMethod = "bilinear" // the zero value means this too
	Nearest       ResizeMethod = "nearest"
	Bicubic       ResizeMethod = "bicubic"
	Area          ResizeMethod = "area"
	Lanczos3      ResizeMethod = "lanczos3"
	Lanczos5      ResizeMethod = "lanczos5"
	Gaussian      ResizeMethod = "gaussian"
	MitchellCubic ResizeMethod = "mitchellcubic"
)

// Images makes a dataset of the files' images [height, width, channels]: of float32 from 0
// to 255, or of uint8 for the method Nearest. Formats are BMP, GIF, JPEG and PNG; of an
// animation the first frame is taken.
func (d *Directory) Images(o *ImageOptions) *Dataset[*tensor.Tensor] {
	load, err := imageLoader(o)
	if err != nil {
		return failed[*tensor.Tensor](fmt.Errorf("dataset: Images: %w", err))
	}
	return unlabeled("Images", d, load)
}

// LabeledImages makes a dataset of the files' images as [Directory.Images] does, and their
// labels.
func (d *Directory) LabeledImages(mode LabelMode, o *ImageOptions) *Dataset[Example] {
	load, err := imageLoader(o)
	if err != nil {
		return failed[Example](fmt.Errorf("dataset: LabeledImages: %w", err))
	}
	return labeled("LabeledImages", d, mode, load)
}

func imageLoader(o *ImageOptions) (loader, error) {
	var opts ImageOptions
	if o != nil {
		opts = *o
	}
	for p, def := range map[*int]int{&opts.Channels: 3, &opts.Height: 256, &opts.Width: 256} {
		if *p == 0 {
			*p = def
		}
	}
	if opts.Method == "" {
		opts.Method = Bilinear
	}
	switch {
	case opts.Channels != 1 && opts.Channels != 3 && opts.Channels != 4:
		return nil, fmt.Errorf("the number of channels is %d, want 1, 3 or 4", opts.Channels)
	case opts.Height < 1 || opts.Width < 1:
		return nil, fmt.Errorf("the size is %d×%d, want 1 or more each", opts.Height, opts.Width)
	}
	switch opts.Method {
	case Bilinear, Nearest, Bicubic, Area, Lanczos3, Lanczos5, Gaussian, MitchellCubic:
	default:
		return nil, fmt.Errorf("unknown method %q", opts.Method)
	}
	return func(ctx context.Context, file string) (*tensor.Tensor, error) {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		s := function.Eager(ctx)
		image := s.Emit1("DecodeImage", graph.Attrs{graph.Int("channels", int64(opts.Channels)), graph.Type("dtype", tensor.Uint8),
			graph.Bool("expand_animations", false)}, string(data))
		if opts.Crop {
			image = opts.crop(s, image)
		}
		image = ops.Squeeze(s, opts.resize(s, ops.ExpandDims(s, image, 0)), 0)
		if err := s.Err(); err != nil {
			return nil, err
		}
		return image.Tensor()
	}, nil
}

// crop returns the middle of an image [height, width, channels] in the ratio of the wanted size. The roundings are
// those of tf_keras's smart_resize: products in int, quotients in float32, then truncated.
func (o *ImageOptions) crop(s *ops.Scope, image *ops.Value) *ops.Value {
	if s.Err() != nil {
		return image
	}
	height, width := image.Shape()[0], image.Shape()[1]
	h := min(height, int(float32(width*o.Height)/float32(o.Width)))
	w := min(width, int(float32(height*o.Width)/float32(o.Height)))
	return ops.SliceOf(s, image, []int{(height - h) / 2, (width - w) / 2, 0}, []int{h, w, -1})
}

// resize returns a batch of one image in the wanted size.
func (o *ImageOptions) resize(s *ops.Scope, image *ops.Value) *ops.Value {
	if s.Err() != nil {
		return image
	}
	switch o.Method {
	case Bilinear:
		return ops.Resize(s, image, o.Height, o.Width)
	case Nearest:
		return ops.Resize(s, image, o.Height, o.Width, &ops.ResizeOptions{Method: ops.Nearest})
	case Bicubic:
		return ops.Resize(s, image, o.Height, o.Width, &ops.ResizeOptions{Method: ops.Bicubic})
	case Area:
		return ops.Resize(s, image, o.Height, o.Width, &ops.ResizeOptions{Method: ops.Area})
	}
	scale := []float32{float32(o.Height) / float32(image.Shape()[1]), float32(o.Width) / float32(image.Shape()[2])}
	return s.Emit1("ScaleAndTranslate", graph.Attrs{graph.String("kernel_type", string(o.Method)), graph.Bool("antialias", false)},
		image, []int32{int32(o.Height), int32(o.Width)}, scale, []float32{0, 0})
}

// loader makes a tensor of a file.
type loader func(ctx context.Context, file string) (*tensor.Tensor, error)

// named loads the file whose name is the element of a string tensor. Its errors contain the name.
func (load loader) named(ctx context.Context, file *tensor.Tensor) (*tensor.Tensor, error) {
	name := file.Strings()[0]
	t, err := load(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("dataset: %s: %w", name, err)
	}
	return t, nil
}

func (d *Directory) paths() (*tensor.Tensor, error) {
	return tensor.FromStrings(tensor.String, d.Files, len(d.Files))
}

func unlabeled(op string, d *Directory, load loader) *Dataset[*tensor.Tensor] {
	paths, err := d.paths()
	if err != nil {
		return failed[*tensor.Tensor](fmt.Errorf("dataset: %s: %w", op, err))
	}
	return Map(FromSlices(paths), load.named)
}

func labeled(op string, d *Directory, mode LabelMode, load loader) *Dataset[Example] {
	targets, err := d.targets(mode)
	if err != nil {
		return failed[Example](fmt.Errorf("dataset: %s: %w", op, err))
	}
	paths, err := d.paths()
	if err != nil {
		return failed[Example](fmt.Errorf("dataset: %s: %w", op, err))
	}
	return FromSlices(Example{paths, targets}).Map(func(ctx context.Context, e Example) (Example, error) {
		x, err := load.named(ctx, e.X)
		return Example{x, e.Y}, err
	})
}
