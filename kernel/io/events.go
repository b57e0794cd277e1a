package io

import (
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/kernel/internal/events"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of SummaryWriter, CreateSummaryFileWriter, FlushSummaryWriter,
// CloseSummaryWriter and the ops that write events.

// summaryWriter prepares SummaryWriter, which returns the instance's writer of
// a name.
func summaryWriter(n *engine.Node) (func(*engine.Call) error, error) {
	key := engine.ResourceKey{Kind: "summary writer", Container: n.Attrs.String("container", ""), Name: n.Attrs.String("shared_name", "")}
	return func(c *engine.Call) error {
		w, err := c.Instance().Resource(key, func() (any, error) { return new(events.Writer), nil })
		if err == nil {
			c.SetObject(0, w)
		}
		return err
	}, nil
}

// openWriter starts an event file, unless the writer has one.
func openWriter(c *engine.Call) error {
	if c.NumIn() != 5 {
		return fmt.Errorf("takes a writer, a directory, how many events may wait and how long, and a suffix")
	}
	if err := c.NeedTensors(1); err != nil {
		return err
	}
	w, err := events.Of(c, 0)
	if err != nil {
		return err
	}
	folder, err := text(c, 1, "the directory")
	if err != nil {
		return err
	}
	most, err := tensor.Item[int32](c.In(2))
	if err != nil {
		return err
	}
	wait, err := tensor.Item[int32](c.In(3))
	if err != nil {
		return err
	}
	suffix, err := text(c, 4, "the suffix")
	if err != nil {
		return err
	}
	dir, place, err := c.Writing(folder)
	if err != nil {
		return err
	}
	return w.Open(dir, place, suffix, most, time.Duration(wait)*time.Millisecond)
}

// flushWriter writes the buffered events. closeWriter does so and closes the file.
func flushWriter(c *engine.Call) error { return withWriter(c, (*events.Writer).Flush) }
func closeWriter(c *engine.Call) error { return withWriter(c, (*events.Writer).Close) }

func withWriter(c *engine.Call, do func(*events.Writer) error) error {
	if c.NumIn() != 1 {
		return fmt.Errorf("takes a writer")
	}
	w, err := events.Of(c, 0)
	if err != nil {
		return err
	}
	return do(w)
}

// needWritten checks the number of inputs of an op that writes an event: a
// writer, a step and n more.
func needWritten(c *engine.Call, n int) error {
	if c.NumIn() != 2+n {
		return fmt.Errorf("takes a writer, a step and %d inputs more, not %d inputs", n, c.NumIn())
	}
	return c.NeedTensors(1)
}

// writeTagged returns the kernel of an op that writes a Summary, which summary
// makes of a tag and a tensor, inputs 2 and 3.
func writeTagged(summary func(tag string, x *tensor.Tensor) ([]byte, error)) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if err := needWritten(c, 2); err != nil {
			return err
		}
		return events.WriteSummary(c, func() ([]byte, error) {
			tag, err := text(c, 2, "the tag")
			if err != nil {
				return nil, err
			}
			return summary(tag, c.In(3))
		})
	}
}

// scalarOf returns the first number of a tensor as a Summary.
func scalarOf(tag string, x *tensor.Tensor) ([]byte, error) {
	if x.DType() == tensor.BFloat16 {
		return nil, fmt.Errorf("bfloat16 is not supported")
	}
	v, err := x.Float64s()
	if err != nil {
		return nil, err
	}
	if len(v) == 0 {
		return nil, fmt.Errorf("there is no number in %v%v", x.DType(), x.Shape())
	}
	value := textField(valueTag, tag)
	value = protowire.AppendFixed32(protowire.AppendTag(value, valueSimple, protowire.Fixed32Type), math.Float32bits(float32(v[0])))
	return appendField(nil, summaryValue, value), nil
}

// writeTensor writes a tensor, input 2, with its tag and its metadata.
func writeTensor(c *engine.Call) error {
	if err := needWritten(c, 3); err != nil {
		return err
	}
	return events.WriteSummary(c, func() ([]byte, error) {
		tag, err := text(c, 3, "the tag")
		if err != nil {
			return nil, err
		}
		metadata, err := text(c, 4, "the metadata")
		if err != nil {
			return nil, err
		}
		t, err := tensorField(c, c.In(2))
		if err != nil {
			return nil, err
		}
		value := appendField(textField(valueTag, tag), valueTensor, t)
		if metadata != "" {
			if wellFormed(metadata) != nil {
				metadata = "" // TensorFlow omits metadata that it can't parse
			}
			value = appendField(value, valueMetadata, []byte(metadata))
		}
		return appendField(nil, summaryValue, value), nil
	})
}

// writeRaw writes serialized Summaries.
func writeRaw(c *engine.Call) error {
	if err := needWritten(c, 1); err != nil {
		return err
	}
	return events.WriteSummary(c, func() ([]byte, error) {
		if d := c.In(2).DType(); d != tensor.String {
			return nil, fmt.Errorf("the summaries are %v, not string", d)
		}
		var all []byte
		for i, s := range c.In(2).Strings() {
			if err := wellFormed(s); err != nil {
				return nil, fmt.Errorf("string %d holds no summary: %w", i, err)
			}
			all = append(all, s...)
		}
		return all, nil
	})
}

// wellFormed returns an error unless b is the encoding of a message.
func wellFormed(b string) error {
	for b := []byte(b); len(b) > 0; {
		_, _, n := protowire.ConsumeField(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
	}
	return nil
}

// writeGraph writes a GraphDef.
func writeGraph(c *engine.Call) error {
	if err := needWritten(c, 1); err != nil {
		return err
	}
	g, err := text(c, 2, "the graph")
	if err != nil {
		return err
	}
	if err := new(pb.GraphDef).Unmarshal([]byte(g)); err != nil {
		return fmt.Errorf("the string holds no graph: %w", err)
	}
	w, err := events.Of(c, 0)
	if err != nil {
		return err
	}
	at, err := events.Step(c, 1)
	if err != nil {
		return err
	}
	return w.Write(at, events.Graph, []byte(g))
}

// importEvent writes an event unchanged.
func importEvent(c *engine.Call) error {
	if c.NumIn() != 2 {
		return fmt.Errorf("takes a writer and an event")
	}
	if err := c.NeedTensors(1); err != nil {
		return err
	}
	e, err := text(c, 1, "the event")
	if err != nil {
		return err
	}
	if err := wellFormed(e); err != nil {
		return fmt.Errorf("the string holds no event: %w", err)
	}
	w, err := events.Of(c, 0)
	if err != nil {
		return err
	}
	return w.Import([]byte(e))
}
