package signal

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// summary gives the first sounds of a batch as WAV files in a Summary. Their rate
// is an attribute or, later, an input.
func summary(c *engine.Call) error {
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	if c.NumIn() != 2 && c.NumIn() != 3 {
		return fmt.Errorf("takes a tag, sounds and their rate")
	}
	tag, x := c.In(0), c.In(1)
	s := x.Shape()
	if tag.DType() != tensor.String || tag.Len() != 1 {
		return fmt.Errorf("the tag is %v%v, not one string", tag.DType(), tag.Shape())
	}
	if x.DType() != tensor.Float32 || len(s) != 2 && len(s) != 3 {
		return fmt.Errorf("the sounds are %v%v, not float32 in 2 or 3 dimensions", x.DType(), s)
	}
	rate := float32(c.Attrs().Float("sample_rate", 0))
	if c.NumIn() == 3 {
		t := c.In(2)
		if t.DType() != tensor.Float32 || t.Len() != 1 {
			return fmt.Errorf("the sample rate is %v%v, not one float32", t.DType(), t.Shape())
		}
		rate = tensor.Values[float32](t)[0]
	}
	if !(rate > 0) || rate >= math.MaxInt32 {
		return fmt.Errorf("the sample rate is %v", rate)
	}
	frames, channels := s[1], 1
	if len(s) == 3 {
		channels = s[2]
	}
	if channels < 1 || channels > math.MaxUint16/2 {
		return fmt.Errorf("a sound has %d channels", channels)
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
			return err
		}
		file, err := wavOf(tensor.Values[float32](x)[int(i)*n:(int(i)+1)*n], channels, int64(rate))
		if err != nil {
			return err
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
	c.Set(0, tensor.Scalar(string(out)))
	return nil
}
