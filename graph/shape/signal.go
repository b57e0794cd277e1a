package shape

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// signalRules returns the rules of Fourier transforms and sounds. The number after an op's name is how many
// dimensions it transforms.
func signalRules() map[string]Rule {
	out := map[string]Rule{"AudioSpectrogram": spectrogram, "Mfcc": mfcc, "DecodeWav": decodeWav, "EncodeWav": encodeWav}
	for i, rank := range []string{"", "2D", "3D"} {
		for _, op := range []string{"FFT", "IFFT", "BatchFFT", "BatchIFFT"} {
			out[op+rank] = func(c *Inference) error { return fourier(c, i+1) }
		}
		for _, op := range []string{"RFFT", "IRFFT"} {
			out[op+rank] = func(c *Inference) error { return realFourier(c, i+1) }
		}
	}
	return out
}

// Half returns the number of elements of a transform of n real numbers that
// determine the others.
func Half(n int) int {
	switch {
	case n < 0:
		return graph.NewDim()
	case n == 0:
		return 0
	}
	return n/2 + 1
}

func fourier(c *Inference, rank int) error {
	if err := c.need(1); err != nil {
		return err
	}
	s, err := c.minRank(0, rank)
	if err == nil {
		c.set(0, s)
	}
	return err
}

func realFourier(c *Inference, rank int) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, err := c.minRank(0, rank)
	if err != nil {
		return err
	}
	if n, err := c.vector(1); err != nil {
		return err
	} else if n >= 0 && n != rank {
		return fmt.Errorf("fft_length has %d elements, not %d", n, rank)
	}
	n, err := c.sizes(1, "fft_length")
	if err != nil || !s.HasRank() {
		return err
	}
	dims := s.Dims().Clone()
	for i := range rank {
		d := graph.NewDim()
		if n.HasRank() {
			d = n.Dim(i)
		}
		if i == rank-1 && strings.HasPrefix(c.Op, "RFFT") {
			d = Half(d)
		}
		dims[len(dims)-rank+i] = d
	}
	c.setDims(0, dims...)
	return nil
}

// Spectrogram returns the shape of the spectrograms of a sound of shape s.
func Spectrogram(s tensor.Shape, window, stride int64) (tensor.Shape, error) {
	const most = 1 << 30
	if len(s) != 2 {
		return nil, fmt.Errorf("the sound has shape %v, not samples by channels", s)
	}
	if window < 2 || stride < 1 || window > most || stride > most {
		return nil, fmt.Errorf("window_size is %d and stride %d; a window needs 2 samples, a stride 1", window, stride)
	}
	frames := graph.NewDim()
	if s[0] >= 0 {
		frames = max(0, (s[0]-int(window))/int(stride)+1)
		if s[0] < int(window) {
			frames = 0
		}
	}
	return tensor.Shape{s[1], frames, 1<<bits.Len(uint(window-1))/2 + 1}, nil
}

func spectrogram(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s, err := c.ranked(0, 2)
	if err != nil {
		return err
	}
	out, err := Spectrogram(s.Dims(), c.Attrs.Int("window_size", 0), c.Attrs.Int("stride", 0))
	if err == nil {
		c.setDims(0, out...)
	}
	return err
}

func mfcc(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, err := c.ranked(0, 3)
	if err != nil {
		return err
	}
	n := c.Attrs.Int("dct_coefficient_count", 13)
	if n < 0 || n != int64(int(n)) {
		return fmt.Errorf("dct_coefficient_count is %d", n)
	}
	c.setDims(0, s.Dim(0), s.Dim(1), int(n))
	return c.scalar(1)
}

func decodeWav(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	size := func(name string) int {
		if n := c.Attrs.Int(name, -1); n >= 0 && n == int64(int(n)) {
			return int(n)
		}
		return graph.NewDim()
	}
	c.setDims(0, size("desired_samples"), size("desired_channels"))
	c.setDims(1)
	return c.scalar(0)
}

func encodeWav(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	c.setDims(0)
	_, err := c.ranked(0, 2)
	return each(err, c.scalar(1))
}
