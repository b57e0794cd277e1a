package callbacks

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/tensorproto"
	"github.com/cairnml/cairn/internal/tfrecord"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// eventFile is a file of events, which TensorBoard reads: records of tensorflow.Event. Field
// numbers, the file's name and the plugins' names are TensorFlow's and must stay. Only the callback
// TensorBoard writes one.
type eventFile struct {
	file vfs.File
	now  func() time.Time
}

// eventFiles counts the files that this process has made, as their names do.
var eventFiles atomic.Int64

// newEventFile makes an event file in a directory.
func newEventFile(dir vfs.Dir, folder string, now func() time.Time) (*eventFile, error) {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "localhost"
	}
	name := fmt.Sprintf("%s/events.out.tfevents.%d.%s.%d.%d.v2", folder, now().Unix(), host, os.Getpid(), eventFiles.Add(1)-1)
	file, err := dir.Create(name)
	if err != nil {
		return nil, err
	}
	e := &eventFile{file: file, now: now}
	var b []byte
	b = protowire.AppendTag(b, 3, protowire.BytesType) // file_version
	b = protowire.AppendString(b, "brain.Event:2")
	return e, e.event(0, b)
}

// event writes an event with these fields besides the time and the step.
func (e *eventFile) event(step int64, fields []byte) error {
	var b []byte
	b = protowire.AppendTag(b, 1, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, math.Float64bits(float64(e.now().UnixNano())/1e9))
	if step != 0 {
		b = protowire.AppendTag(b, 2, protowire.VarintType)
		b = protowire.AppendVarint(b, uint64(step))
	}
	_, err := e.file.Write(tfrecord.Append(nil, string(append(b, fields...))))
	return err
}

// Classes of data in a SummaryMetadata.
const (
	scalarData = 1
	tensorData = 2
)

// tensor writes a tensor for a plugin of TensorBoard.
func (e *eventFile) tensor(step int64, tag, plugin string, class uint64, t *tensor.Tensor) error {
	return e.tensorOf(step, tag, plugin, nil, class, t)
}

// tensorOf writes a tensor for a plugin of TensorBoard, with the plugin's metadata.
func (e *eventFile) tensorOf(step int64, tag, plugin string, content []byte, class uint64, t *tensor.Tensor) error {
	proto, err := tensorproto.Encode(t)
	if err != nil {
		return err
	}
	data := message(nil, 1, []byte(plugin)) // plugin_name
	if content != nil {
		data = message(data, 2, content)
	}
	metadata := message(nil, 1, data) // plugin_data
	metadata = protowire.AppendVarint(protowire.AppendTag(metadata, 4, protowire.VarintType), class)
	value := message(nil, 1, []byte(tag))
	value = message(value, 8, proto.Marshal())
	value = message(value, 9, metadata)
	return e.event(step, message(nil, 5, message(nil, 1, value)))
}

// scalar writes a number.
func (e *eventFile) scalar(step int64, tag string, x float64) error {
	return e.tensor(step, tag, "scalars", scalarData, tensor.Scalar(float32(x)))
}

// graph writes an encoded GraphDef.
func (e *eventFile) graph(def []byte) error {
	return e.event(0, protowire.AppendBytes(protowire.AppendTag(nil, 4, protowire.BytesType), def))
}

func (e *eventFile) close() error { return errors.Join(e.file.Sync(), e.file.Close()) }

// histogramBuckets is the number of buckets of a histogram.
const histogramBuckets = 30

// histogram writes the distribution of the elements of a tensor.
func (e *eventFile) histogram(step int64, tag string, t *tensor.Tensor) error {
	wide, err := tensor.Zeros(tensor.Float64, t.Len())
	if err == nil {
		err = tensor.CastRange(wide.Bytes(), t, tensor.Float64, 0, t.Len())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", tag, err)
	}
	return e.tensor(step, tag, "histograms", tensorData, buckets(tensor.Values[float64](wide)))
}

// buckets returns the rows of a histogram, float64 [30, 3]: left edge, right edge, count. As in
// TensorBoard's histogram summary, a single value is in the last bucket. Elements that aren't finite
// count nowhere, which is a rule of ours.
func buckets(values []float64) *tensor.Tensor {
	out := tensor.Must(tensor.Zeros(tensor.Float64, histogramBuckets, 3))
	rows := tensor.Values[float64](out)
	least, most, n := math.Inf(1), math.Inf(-1), 0
	for _, x := range values {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			least, most, n = min(least, x), max(most, x), n+1
		}
	}
	if n == 0 {
		return out
	}
	scale := 1.0 // 0.5 if the difference is beyond float64
	if math.IsInf(most-least, 0) {
		scale = 0.5
	}
	width := (most*scale - least*scale) / histogramBuckets // scaled
	for i := range histogramBuckets {
		rows[3*i], rows[3*i+1] = (least*scale+width*float64(i))/scale, (least*scale+width*float64(i+1))/scale
	}
	rows[3*histogramBuckets-2] = most
	for _, x := range values {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		i := histogramBuckets - 1 // of a single value too
		if width > 0 {
			i = min(int((x*scale-least*scale)/width), i)
		}
		rows[3*i+2]++
	}
	return out
}

// eventName returns a variable's full name as tf_keras has it in summaries: "dense/kernel_0".
func eventName(fullName string) string { return fullName + "_0" }
