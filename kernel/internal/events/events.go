// Package events writes event files, in which TensorBoard finds summaries. A
// handle of SummaryWriter refers to a Writer. Packages kernel/image, kernel/io
// and kernel/signal use it. Names of files, versions and fields are those of
// TensorFlow's EventsWriter.
package events

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/tfrecord"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// Fields of an Event.
const (
	wallTime protowire.Number = 1
	step     protowire.Number = 2
	version  protowire.Number = 3
	// Graph is the field of a GraphDef.
	Graph protowire.Number = 4
	// Summary is the field of a Summary.
	Summary protowire.Number = 5
	source  protowire.Number = 10
)

// Writer writes summaries to a file. It has no file before it is opened and
// after it is closed. It is safe for concurrent use.
type Writer struct {
	mu      sync.Mutex
	dir     vfs.Dir
	file    vfs.File // nil: none
	queue   []byte   // records that aren't in the file yet
	queued  int32
	most    int32         // events in the queue before it is written
	wait    time.Duration // between two writes
	flushed time.Time
}

// Of returns the writer of the handle in input i.
func Of(c *engine.Call, i int) (*Writer, error) {
	w, ok := c.Input(i).Object.(*Writer)
	if !ok {
		return nil, fmt.Errorf("input %d is no handle of a SummaryWriter", i)
	}
	return w, nil
}

// files counts the files that this process has begun, as their names do.
var files atomic.Int64

// Open begins a file in a directory of dir, unless the writer has one. suffix ends
// the file's name. Events are buffered until there are more than most of them, or
// until wait has passed; the next event then writes them.
func (w *Writer) Open(dir vfs.Dir, folder, suffix string, most int32, wait time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file != nil {
		return nil
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	now := time.Now()
	name := fmt.Sprintf("events.out.tfevents.%010d.%s.%d.%d%s", now.Unix(), host, os.Getpid(), files.Add(1)-1, suffix)
	f, err := dir.Create(path.Join(folder, name))
	if err != nil {
		return err
	}
	w.dir, w.file, w.most, w.wait, w.flushed = dir, f, most, wait, now
	first := protowire.AppendString(protowire.AppendTag(head(0), version, protowire.BytesType), "brain.Event:2")
	writer := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "tensorflow.core.util.events_writer")
	w.add(protowire.AppendBytes(protowire.AppendTag(first, source, protowire.BytesType), writer))
	return w.flush()
}

// errClosed is the error of writing to a writer without a file.
var errClosed = errors.New("the writer of summaries has no file: CreateSummaryFileWriter hasn't run, or CloseSummaryWriter has")

// Write writes an event with a step and one more field.
func (w *Writer) Write(at int64, field protowire.Number, v []byte) error {
	return w.Import(protowire.AppendBytes(protowire.AppendTag(head(at), field, protowire.BytesType), v))
}

// head returns the fields that events begin with.
func head(at int64) []byte {
	now := float64(time.Now().UnixMicro()) / 1e6
	b := protowire.AppendFixed64(protowire.AppendTag(nil, wallTime, protowire.Fixed64Type), math.Float64bits(now))
	if at != 0 {
		b = protowire.AppendVarint(protowire.AppendTag(b, step, protowire.VarintType), uint64(at))
	}
	return b
}

// Import writes an event.
func (w *Writer) Import(event []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return errClosed
	}
	w.add(event)
	if w.queued > w.most || time.Since(w.flushed) > w.wait {
		return w.flush()
	}
	return nil
}

func (w *Writer) add(event []byte) {
	w.queue = tfrecord.Append(w.queue, string(event))
	w.queued++
}

// Flush writes the buffered events.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return errClosed
	}
	return w.flush()
}

func (w *Writer) flush() error {
	w.flushed = time.Now()
	n, err := w.file.Write(w.queue)
	w.queue, w.queued = append(w.queue[:0], w.queue[n:]...), 0
	if err != nil {
		return err
	}
	return w.file.Sync()
}

// Close writes the buffered events and closes the file.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return errClosed
	}
	err := errors.Join(w.flush(), w.file.Close(), w.dir.Sync())
	w.dir, w.file, w.queue, w.queued = nil, nil, nil, 0
	return err
}

// Step returns the step in input i.
func Step(c *engine.Call, i int) (int64, error) { return tensor.Item[int64](c.In(i)) }

// WriteSummary writes the Summary that make returns for the inputs from the
// third on. The first input is the writer, the second the step.
func WriteSummary(c *engine.Call, make func() ([]byte, error)) error {
	if c.NumIn() < 2 {
		return fmt.Errorf("takes a writer and a step")
	}
	if err := c.NeedTensors(1); err != nil {
		return err
	}
	w, err := Of(c, 0)
	if err != nil {
		return err
	}
	at, err := Step(c, 1)
	if err != nil {
		return err
	}
	s, err := make()
	if err != nil {
		return err
	}
	return w.Write(at, Summary, s)
}
