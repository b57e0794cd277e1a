package signal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/fft"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of AudioSpectrogram, Mfcc, DecodeWav and EncodeWav.

// spectrogram returns the power of each frequency in windows of a sound. The
// input is [samples, channels], the output [channels, windows, frequencies].
func spectrogram(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	x := c.In(0)
	window, stride := c.Attrs().Int("window_size", 0), c.Attrs().Int("stride", 0)
	dims, err := shape.Spectrogram(x.Shape(), window, stride)
	if err != nil {
		return err
	}
	if x.DType() != tensor.Float32 {
		return fmt.Errorf("the sound is %v, not float32", x.DType())
	}
	out, err := c.Alloc(0, tensor.Float32, dims)
	if err != nil || out.Len() == 0 {
		return err
	}
	n := 1 << bits.Len(uint(window-1))
	c.Fits(n, fft.PlanSize)
	plan := fft.New(n, c.Check)
	hann := make([]float64, window)
	for i := range hann {
		hann[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(window))
	}
	squared := c.Attrs().Bool("magnitude_squared")
	src, dst := tensor.Values[float32](x), tensor.Values[float32](out)
	channels, frames, bins := dims[0], dims[1], dims[2]
	c.Parallel(channels*frames, float64(n)*30, func(lo, hi int) {
		z := make([]complex128, n)
		for i := lo; i < hi; i++ {
			clear(z)
			for k, w := range hann {
				z[k] = complex(w*float64(src[(i%frames*int(stride)+k)*channels+i/frames]), 0)
			}
			plan.Forward(z)
			for k := range bins {
				re, im := real(z[k]), imag(z[k])
				p := re*re + im*im
				if !squared {
					p = math.Sqrt(p)
				}
				dst[i*bins+k] = float32(p)
			}
		}
	})
	return nil
}

// mfcc converts a spectrogram [channels, windows, frequencies] to mel-frequency cepstral
// coefficients [channels, windows, coefficients]. Its constants are TensorFlow's.
func mfcc(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	x, rate := c.In(0), c.In(1)
	s := x.Shape()
	if x.DType() != tensor.Float32 || len(s) != 3 {
		return fmt.Errorf("the spectrogram is %v%v, not float32 in 3 dimensions", x.DType(), s)
	}
	hz, err := shapes.Int(rate, "the sample rate")
	if err != nil {
		return err
	}
	a := c.Attrs()
	filters, count := int(a.Int("filterbank_channel_count", 40)), int(a.Int("dct_coefficient_count", 13))
	c.Fits(s[2], 16) // a filter and a weight for each bin
	m, err := newMel(s[2], float64(hz), a.Float("lower_frequency_limit", 20), a.Float("upper_frequency_limit", 4000), filters)
	if err != nil {
		return err
	}
	if count < 1 || count > filters {
		return fmt.Errorf("there are %d coefficients of %d filters", count, filters)
	}
	out, err := c.Alloc(0, tensor.Float32, tensor.Shape{s[0], s[1], count})
	if err != nil {
		return err
	}
	if m == nil {
		clear(tensor.Values[float32](out))
		return nil
	}
	norm := math.Sqrt(2 / float64(filters))
	c.Fits(count, 8*filters) // their product may overflow
	cosines, _ := engine.Scratch[float64](c, count*filters)
	for i := range cosines {
		c.Step(i)
		cosines[i] = norm * math.Cos(float64(i/filters)*math.Pi/float64(filters)*(float64(i%filters)+0.5))
	}
	src, dst := tensor.Values[float32](x), tensor.Values[float32](out)
	bank, pace := make([]float64, filters), engine.NewPace(c)
	for f := range s[0] * s[1] {
		pace.Work(4*s[2] + 10*filters)
		m.apply(bank, src[f*s[2]:(f+1)*s[2]])
		for i := range bank {
			bank[i] = math.Log(max(bank[i], 1e-12))
		}
		for i := range count {
			pace.Work(filters)
			sum := 0.0
			for j, v := range bank {
				sum += cosines[i*filters+j] * v
			}
			dst[f*count+i] = float32(sum)
		}
	}
	return nil
}

// mel is a bank of triangular filters with equal distances on the mel scale.
type mel struct {
	first, last int       // bins
	band        []int     // for each bin, the filter that ends above it; -1: none
	weight      []float64 // for each bin, the part of it that this filter gets
}

// toMel converts a frequency in Hz to the mel scale.
func toMel(hz float64) float64 { return 1127 * math.Log1p(hz/700) }

// newMel returns the bank. It returns nil if the spectrogram ends below upper,
// because TensorFlow's coefficients are zero then.
func newMel(bins int, rate, lower, upper float64, filters int) (*mel, error) {
	const most = 1 << 20
	switch {
	case filters < 1 || filters > most:
		return nil, fmt.Errorf("filterbank_channel_count is %d", filters)
	case rate <= 0 || bins < 2:
		return nil, fmt.Errorf("the sample rate is %v, the spectrogram has %d bins", rate, bins)
	case lower < 0 || !(upper > lower):
		return nil, fmt.Errorf("the frequencies from %v to %v are no range", lower, upper)
	}
	low := toMel(lower)
	spacing := (toMel(upper) - low) / float64(filters+1)
	centre := func(i int) float64 { return low + spacing*float64(i+1) }
	step := 0.5 * rate / float64(bins-1)
	if upper/step >= float64(bins) {
		return nil, nil
	}
	m := &mel{first: int(1.5 + lower/step), last: int(upper / step), band: make([]int, bins), weight: make([]float64, bins)}
	channel := 0
	for i := m.first; i <= m.last; i++ {
		at := toMel(float64(i) * step)
		for channel < filters && centre(channel) < at {
			channel++
		}
		m.band[i] = channel - 1
		if channel > 0 {
			m.weight[i] = (centre(channel) - at) / (centre(channel) - centre(channel-1))
		} else {
			m.weight[i] = (centre(0) - at) / (centre(0) - low)
		}
	}
	return m, nil
}

// apply adds each bin's magnitude, in two parts, to the filters below and above
// it.
func (m *mel) apply(bank []float64, powers []float32) {
	clear(bank)
	for i := m.first; i <= m.last; i++ {
		v := math.Sqrt(float64(powers[i]))
		part := v * m.weight[i]
		b := m.band[i]
		if b >= 0 {
			bank[b] += part
		}
		if b+1 < len(bank) {
			bank[b+1] += v - part
		}
	}
}

// wav has the samples of a WAV file, which are 16-bit integers, and their
// properties.
type wav struct {
	channels, rate int
	samples        []byte
}

// parseWav reads PCM of 16 bits. It skips chunks except fmt and data, and ends
// after the data.
func parseWav(b []byte) (w wav, err error) {
	if len(b) < 12 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WAVE" {
		return w, fmt.Errorf("the contents are no WAV file: they don't begin with RIFF and WAVE")
	}
	b = b[12:]
	for len(b) >= 8 {
		name, size := string(b[:4]), uint64(binary.LittleEndian.Uint32(b[4:]))
		b = b[8:]
		switch name {
		case "fmt ":
			if size < 16 || size > uint64(len(b)) {
				return w, fmt.Errorf("the WAV file's chunk fmt has %d bytes", size)
			}
			format, depth := binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[14:])
			w.channels, w.rate = int(binary.LittleEndian.Uint16(b[2:])), int(binary.LittleEndian.Uint32(b[4:]))
			if format != 1 || depth != 16 || w.channels < 1 {
				return w, fmt.Errorf("the WAV file has format %d, %d channels and %d bits; PCM of 16 bits is needed", format, w.channels, depth)
			}
		case "data":
			if w.channels == 0 {
				return w, fmt.Errorf("the WAV file's data comes before its chunk fmt")
			}
			if size > uint64(len(b)) {
				return w, fmt.Errorf("the WAV file is cut off: its data has %d bytes of %d", len(b), size)
			}
			w.samples = b[:size/uint64(2*w.channels)*uint64(2*w.channels)]
			return w, nil
		}
		b = b[min(size, uint64(len(b))):]
	}
	return w, fmt.Errorf("the WAV file has no data")
}

// decodeWav returns the samples [samples, channels] in [-1, 1) and the rate.
// Missing samples are 0, and missing channels repeat the last one, as in
// TensorFlow.
func decodeWav(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	x := c.In(0)
	if x.DType() != tensor.String || x.Len() != 1 {
		return fmt.Errorf("the contents are %v%v, not one string", x.DType(), x.Shape())
	}
	w, err := parseWav([]byte(x.Strings()[0]))
	if err != nil {
		return err
	}
	have := len(w.samples) / (2 * w.channels)
	channels, samples := c.Attrs().Int("desired_channels", -1), c.Attrs().Int("desired_samples", -1)
	if channels == -1 {
		channels = int64(w.channels)
	}
	if samples == -1 {
		samples = int64(have)
	}
	if channels < 0 || samples < 0 || channels > math.MaxInt32 || samples > math.MaxInt32 {
		return fmt.Errorf("there can't be %d samples of %d channels", samples, channels)
	}
	out, err := c.AllocZero(0, tensor.Float32, tensor.Shape{int(samples), int(channels)})
	if err != nil {
		return err
	}
	dst := tensor.Values[float32](out)
	for i := range min(int(samples), have) {
		for k := range int(channels) {
			from := min(k, w.channels-1)
			v := int16(binary.LittleEndian.Uint16(w.samples[2*(i*w.channels+from):]))
			dst[i*int(channels)+k] = float32(v) / (1 << 15)
		}
	}
	c.Set(1, tensor.Scalar(int32(w.rate)))
	return nil
}

// encodeWav returns a WAV file of samples [samples, channels]; numbers outside
// [-1, 1] are clamped.
func encodeWav(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	rate, err := shapes.Int(c.In(1), "the sample rate")
	if err != nil {
		return err
	}
	if x.DType() != tensor.Float32 || len(s) != 2 || s[1] < 1 || s[1] > math.MaxUint16/2 {
		return fmt.Errorf("the sound is %v%v, not samples by channels of float32", x.DType(), s)
	}
	b, err := wavOf(tensor.Values[float32](x), s[1], rate)
	if err == nil {
		c.Set(0, tensor.Scalar(string(b)))
	}
	return err
}

// wavOf returns a WAV file of samples, in which all channels of a time are
// adjacent.
func wavOf(samples []float32, channels int, rate int64) ([]byte, error) {
	if rate <= 0 || rate > math.MaxInt32 || int64(len(samples))*2 > math.MaxUint32-44 {
		return nil, fmt.Errorf("a WAV file holds no %d samples at the rate %d", len(samples), rate)
	}
	var b bytes.Buffer
	put := func(v any) { binary.Write(&b, binary.LittleEndian, v) } // writes to memory, which can't fail
	width := 2 * channels
	b.WriteString("RIFF")
	put(uint32(36 + 2*len(samples)))
	b.WriteString("WAVEfmt ")
	put(uint32(16))
	put(uint16(1))
	put(uint16(channels))
	put(uint32(rate))
	put(uint32(int(rate) * width))
	put(uint16(width))
	put(uint16(16))
	b.WriteString("data")
	put(uint32(2 * len(samples)))
	for _, v := range samples {
		y := math.Round(float64(v * (1 << 15)))
		if y != y {
			y = 0
		}
		put(int16(min(max(y, math.MinInt16), math.MaxInt16)))
	}
	return b.Bytes(), nil
}
