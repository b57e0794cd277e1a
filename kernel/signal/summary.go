package signal

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/events"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of AudioSummary, AudioSummaryV2 and WriteAudioSummary. The tags
// of the sounds are TensorFlow's.

// summary returns a Summary with the first sounds of a batch as WAV files.
// Their rate is an attribute or, in the second version, an input.
func summary(c *engine.Call) error {
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	if c.NumIn() != 2 && c.NumIn() != 3 {
		return fmt.Errorf("takes a tag, sounds and their rate")
	}
	rate := float32(c.Attrs().Float("sample_rate", 0))
	if c.NumIn() == 3 {
		var err error
		if rate, err = tensor.Item[float32](c.In(2)); err != nil {
			return fmt.Errorf("the sample rate: %w", err)
		}
	}
	s, err := summaryOf(c, c.In(0), c.In(1), rate)
	if err != nil {
		return err
	}
	c.Set(0, tensor.Scalar(string(s)))
	return nil
}

// writeSummary writes such a Summary to an event file.
func writeSummary(c *engine.Call) error {
	if c.NumIn() != 5 {
		return fmt.Errorf("takes a writer, a step, a tag, sounds and their rate")
	}
	return events.WriteSummary(c, func() ([]byte, error) {
		rate, err := tensor.Item[float32](c.In(4))
		if err != nil {
			return nil, fmt.Errorf("the sample rate: %w", err)
		}
		return summaryOf(c, c.In(2), c.In(3), rate)
	})
}

// summaryOf returns a Summary of the first sounds of a batch. Each is a Summary.Audio, whose fields
// 1 to 5 are sample_rate, num_channels, length_frames, the encoded sound and content_type.
func summaryOf(c *engine.Call, tag, x *tensor.Tensor, rate float32) ([]byte, error) {
	s := x.Shape()
	if tag.DType() != tensor.String || tag.Len() != 1 {
		return nil, fmt.Errorf("the tag is %v%v, not one string", tag.DType(), tag.Shape())
	}
	if x.DType() != tensor.Float32 || len(s) != 2 && len(s) != 3 {
		return nil, fmt.Errorf("the sounds are %v%v, not float32 in 2 or 3 dimensions", x.DType(), s)
	}
	if !(rate > 0) || rate >= math.MaxInt32 {
		return nil, fmt.Errorf("the sample rate is %v", rate)
	}
	frames, channels := s[1], 1
	if len(s) == 3 {
		channels = s[2]
	}
	if channels < 1 || channels > math.MaxUint16/2 {
		return nil, fmt.Errorf("a sound has %d channels", channels)
	}
	most := c.Attrs().Int("max_outputs", 3)
	var out []byte
	for i := range min(int64(s[0]), most) {
		name := fmt.Sprintf("%s/audio/%d", tag.Strings()[0], i)
		if most == 1 {
			name = tag.Strings()[0] + "/audio"
		}
		n := frames * channels
		if err := c.Afford(int64(len(out)) + 2*int64(n)); err != nil {
			return nil, err
		}
		file, err := wavOf(tensor.Values[float32](x)[int(i)*n:(int(i)+1)*n], channels, int64(rate))
		if err != nil {
			return nil, err
		}
		sound := protowire.AppendFixed32(protowire.AppendTag(nil, 1, protowire.Fixed32Type), math.Float32bits(rate))
		sound = protowire.AppendVarint(protowire.AppendTag(sound, 2, protowire.VarintType), uint64(channels))
		if frames > 0 {
			sound = protowire.AppendVarint(protowire.AppendTag(sound, 3, protowire.VarintType), uint64(frames))
		}
		sound = protowire.AppendBytes(protowire.AppendTag(sound, 4, protowire.BytesType), file)
		sound = protowire.AppendString(protowire.AppendTag(sound, 5, protowire.BytesType), "audio/wav")
		value := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), name)
		value = protowire.AppendBytes(protowire.AppendTag(value, 6, protowire.BytesType), sound)
		out = protowire.AppendBytes(protowire.AppendTag(out, 1, protowire.BytesType), value)
	}
	return out, nil
}
