package data

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of the readers of TensorFlow 1: TextLineReader, TFRecordReader,
// FixedLengthRecordReader, WholeFileReader, IdentityReader and the ops on them.

// reader is a reader of TensorFlow 1: it goes through the records of files. Its work
// is the names of files, which a queue returns. It is safe for use from many
// goroutines.
type reader struct {
	what string // its kind and name, for errors
	kind readerKind
	as   graph.Attrs

	turn // of the goroutine that uses the fields below

	work     string // under way
	file     fs.File
	records  pairs // of the work; nil: it has not begun
	started  int64
	finished int64
	produced int64
}

// pairs are records with their keys.
type pairs interface {
	// next returns the next key and record, or io.EOF if there is none.
	next(c *engine.Call) (key, value string, err error)
}

// readerKind describes how a reader cuts a piece of work into records.
type readerKind struct {
	op    string
	state bool // its state can be saved
	// open cuts a file. Nil means that the work itself is the record or, with
	// whole, the content of its file.
	open  func(work string, as graph.Attrs, r io.Reader, size int64) (pairs, error)
	whole bool
}

// readers returns the kernels of readers: of handles as references, as TensorFlow 1
// has them, and as resources.
func readers() (table []engine.Kernel) {
	for _, kind := range []readerKind{
		{op: "TextLineReader", open: lineReader},
		{op: "TFRecordReader", open: recordReader},
		{op: "FixedLengthRecordReader", open: fixedReader},
		{op: "WholeFileReader", state: true, whole: true},
		{op: "IdentityReader", state: true},
	} {
		create := func(as graph.Attrs, what string) (*reader, error) {
			if kind.op == "FixedLengthRecordReader" {
				if _, err := newFixedFormat(as); err != nil {
					return nil, err
				}
			}
			return &reader{what: what, kind: kind, as: as, turn: newTurn()}, nil
		}
		check := func(r *reader, _ graph.Attrs) error {
			if r.kind.op != kind.op {
				return fmt.Errorf("it is a %s", r.kind.op)
			}
			return nil
		}
		table = append(table, engine.Kernel{Op: kind.op, Prepare: resourceOf("reader", true, create, check)},
			engine.Kernel{Op: kind.op + "V2", Prepare: resourceOf("reader", false, create, check)})
	}
	for _, k := range []engine.Kernel{
		{Op: "ReaderRead", Run: readOne}, {Op: "ReaderReadUpTo", Run: readUpTo}, {Op: "ReaderReset", Run: resetReader},
		{Op: "ReaderNumRecordsProduced", Run: readerCount(func(r *reader) int64 { return r.produced })},
		{Op: "ReaderNumWorkUnitsCompleted", Run: readerCount(func(r *reader) int64 { return r.finished })},
		{Op: "ReaderSerializeState", Run: saveReader}, {Op: "ReaderRestoreState", Run: restoreReader},
	} {
		table = append(table, k, engine.Kernel{Op: k.Op + "V2", Run: k.Run})
	}
	return table
}

// readerIn returns the reader in input 0 of an op with n inputs.
func readerIn(c *engine.Call, n int) (*reader, error) {
	if c.NumIn() != n {
		return nil, fmt.Errorf("takes %d inputs, %d were given", n, c.NumIn())
	}
	return engine.Object[*reader](c, 0)
}

// next returns the next record: of the present work, or of the next work in the
// queue. If wait is false, it returns io.EOF instead of beginning new work.
func (r *reader) next(c *engine.Call, q *Queue, wait bool) (key, value string, err error) {
	for {
		if r.records == nil {
			if !wait {
				return "", "", io.EOF
			}
			if err := c.Context().Err(); err != nil {
				return "", "", err
			}
			if err := r.begin(c, q); err != nil {
				return "", "", err
			}
		}
		key, value, err := r.records.next(c)
		switch {
		case err == io.EOF:
			r.end()
			r.finished++
			continue
		case err != nil:
			r.end()
			return "", "", fmt.Errorf("%s: %w", r.work, err)
		}
		if _, whole := r.records.(*oneRecord); whole { // it has no further record
			r.end()
			r.finished++
		}
		r.produced++
		return key, value, nil
	}
}

// begin takes the next work from the queue.
func (r *reader) begin(c *engine.Call, q *Queue) error {
	if len(q.types) != 1 || q.types[0] != tensor.String {
		return fmt.Errorf("the %s %q holds %v, not the names of files", q.kind, q.name, q.types)
	}
	es, err := q.get(c, 1, false)
	if err != nil {
		return err
	}
	if es[0][0].Tensor.Len() != 1 {
		return fmt.Errorf("the %s %q returns %v, not the name of a file", q.kind, q.name, es[0][0].Tensor.Shape())
	}
	r.work = es[0][0].Tensor.Strings()[0]
	r.started++
	if r.kind.open == nil && !r.kind.whole {
		r.records = &oneRecord{key: r.work, value: r.work}
		return nil
	}
	fsys, place, err := c.Reading(r.work)
	if err != nil {
		return err
	}
	f, err := fsys.Open(place)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	if r.kind.whole {
		var b []byte
		if b, err = readFull(c, f, uint64(max(0, info.Size()))); err == nil || err == io.EOF {
			r.records, err = &oneRecord{key: r.work, value: string(b)}, nil
		}
	} else {
		r.records, err = r.kind.open(r.work, r.as, f, info.Size())
	}
	if err != nil {
		f.Close()
		r.records = nil
		return fmt.Errorf("%s: %w", r.work, err)
	}
	r.file = f
	return nil
}

// end leaves the work under way.
func (r *reader) end() {
	if r.file != nil {
		r.file.Close()
	}
	r.file, r.records = nil, nil
}

// oneRecord is a single record.
type oneRecord struct{ key, value string }

func (x *oneRecord) next(*engine.Call) (key, value string, err error) { return x.key, x.value, nil }

// readOne returns the next key and record. It waits for the queue if necessary.
func readOne(c *engine.Call) error {
	r, err := readerIn(c, 2)
	if err != nil {
		return err
	}
	q, err := engine.Object[*Queue](c, 1)
	if err != nil {
		return err
	}
	if err := r.lock(c.Context()); err != nil {
		return err
	}
	defer r.unlock()
	key, value, err := r.next(c, q, true)
	if err != nil {
		return err
	}
	c.Set(0, tensor.Scalar(key))
	c.Set(1, tensor.Scalar(value))
	return nil
}

// readUpTo returns so many records, or fewer if the present work has no more.
func readUpTo(c *engine.Call) error {
	r, err := readerIn(c, 3)
	if err != nil {
		return err
	}
	q, err := engine.Object[*Queue](c, 1)
	if err != nil {
		return err
	}
	n, err := intIn(c, 2, "the number of records")
	if err != nil {
		return err
	}
	if n <= 0 {
		return fmt.Errorf("%d records are wanted, not 1 or more", n)
	}
	if err := r.lock(c.Context()); err != nil {
		return err
	}
	defer r.unlock()
	var keys, values []string
	var bytes int64
	for int64(len(keys)) < n {
		key, value, err := r.next(c, q, len(keys) == 0)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		bytes += int64(len(key)+len(value)) + 32
		if err := c.Afford(bytes); err != nil {
			return err
		}
		keys, values = append(keys, key), append(values, value)
	}
	c.Set(0, tensor.Vector(keys...))
	c.Set(1, tensor.Vector(values...))
	return nil
}

// resetReader leaves the work under way and sets all counts to 0.
func resetReader(c *engine.Call) error {
	r, err := readerIn(c, 1)
	if err != nil {
		return err
	}
	if err := r.lock(c.Context()); err != nil {
		return err
	}
	defer r.unlock()
	r.end()
	r.work, r.started, r.finished, r.produced = "", 0, 0, 0
	return nil
}

// readerCount returns the kernel that returns one of the counts.
func readerCount(of func(*reader) int64) func(*engine.Call) error {
	return func(c *engine.Call) error {
		r, err := readerIn(c, 1)
		if err != nil {
			return err
		}
		if err := r.lock(c.Context()); err != nil {
			return err
		}
		defer r.unlock()
		c.Set(0, tensor.Scalar(of(r)))
		return nil
	}
}

// Fields of a ReaderBaseState.
const (
	stateStarted  protowire.Number = 1
	stateFinished protowire.Number = 2
	stateProduced protowire.Number = 3
	stateWork     protowire.Number = 4
)

// saveReader encodes a ReaderBaseState, TensorFlow's message, with its fields
// in order.
func saveReader(c *engine.Call) error {
	r, err := readerIn(c, 1)
	if err != nil {
		return err
	}
	if err := r.lock(c.Context()); err != nil {
		return err
	}
	defer r.unlock()
	if !r.kind.state {
		return fmt.Errorf("the state of a %s can't be saved", r.kind.op)
	}
	var b []byte
	for num, v := range []int64{0, r.started, r.finished, r.produced} {
		if v != 0 {
			b = protowire.AppendVarint(protowire.AppendTag(b, protowire.Number(num), protowire.VarintType), uint64(v))
		}
	}
	if r.work != "" {
		b = protowire.AppendString(protowire.AppendTag(b, stateWork, protowire.BytesType), r.work)
	}
	c.Set(0, tensor.Scalar(string(b)))
	return nil
}

// restoreReader decodes a ReaderBaseState. Fields of other numbers are ignored. An
// error leaves the reader unchanged.
func restoreReader(c *engine.Call) error {
	r, err := readerIn(c, 2)
	if err != nil {
		return err
	}
	state, err := stringsIn(c, 1, "the state")
	if err != nil || len(state) != 1 {
		return fmt.Errorf("the state is not one string")
	}
	if err := r.lock(c.Context()); err != nil {
		return err
	}
	defer r.unlock()
	if !r.kind.state {
		return fmt.Errorf("the state of a %s can't be restored", r.kind.op)
	}
	var v [5]int64
	var work string
	for b := []byte(state[0]); len(b) > 0; {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("the state is damaged: %w", protowire.ParseError(n))
		}
		m := protowire.ConsumeFieldValue(num, typ, b[n:])
		if m < 0 {
			return fmt.Errorf("the state is damaged: %w", protowire.ParseError(m))
		}
		switch field := b[n : n+m]; {
		case typ == protowire.VarintType && num <= stateProduced:
			x, _ := protowire.ConsumeVarint(field)
			v[num] = int64(x)
		case typ == protowire.BytesType && num == stateWork:
			work, _ = protowire.ConsumeString(field)
		}
		b = b[n+m:]
	}
	if v[stateStarted] < 0 || v[stateFinished] < 0 || v[stateProduced] < 0 || v[stateStarted] < v[stateFinished] {
		return fmt.Errorf("the state says that %d of %d pieces of work are finished, with %d records", v[stateFinished], v[stateStarted], v[stateProduced])
	}
	r.end()
	r.started, r.finished, r.produced, r.work = v[stateStarted], v[stateFinished], v[stateProduced], work
	if r.started > r.finished { // unfinished work begins anew
		r.records = &oneRecord{key: work, value: work}
	}
	return nil
}

// lineReader cuts lines; keys are their numbers, from 1 on.
func lineReader(work string, as graph.Attrs, r io.Reader, _ int64) (pairs, error) {
	return &lineRecords{work: work, skip: as.Int("skip_header_lines", 0), lines: lines{bufio.NewReader(r)}}, nil
}

// lineRecords are the lines of a file after the first skip ones.
type lineRecords struct {
	work       string
	skip, line int64
	lines      lines
}

func (x *lineRecords) next(c *engine.Call) (key, value string, err error) {
	for {
		b, err := x.lines.next(c)
		if err == nil {
			err = c.Context().Err()
		}
		if err != nil {
			return "", "", err
		}
		if x.line++; x.line > x.skip {
			return fmt.Sprintf("%s:%d", x.work, x.line), string(b), nil
		}
	}
}

// recordReader cuts TFRecords; keys are their offsets.
func recordReader(work string, as graph.Attrs, r io.Reader, _ int64) (pairs, error) {
	r, err := decompressed(r, as.String("compression_type", ""))
	return &recordPairs{work: work, records: tfRecords{bufio.NewReader(r)}}, err
}

// recordPairs are TFRecords; at is the offset of the next one in bytes.
type recordPairs struct {
	work    string
	at      int64
	records tfRecords
}

func (x *recordPairs) next(c *engine.Call) (key, value string, err error) {
	b, err := x.records.next(c)
	key = fmt.Sprintf("%s:%d", x.work, x.at)
	x.at += int64(len(b)) + 16
	return key, string(b), err
}

// fixedFormat is the format of a file with records of one length: each begins
// hop bytes after the one before.
type fixedFormat struct{ header, length, footer, hop int64 }

// newFixedFormat reads and checks the attributes.
func newFixedFormat(as graph.Attrs) (f fixedFormat, err error) {
	f = fixedFormat{as.Int("header_bytes", 0), as.Int("record_bytes", 0), as.Int("footer_bytes", 0), as.Int("hop_bytes", 0)}
	if f.header < 0 || f.length <= 0 || f.footer < 0 || f.hop < 0 {
		return f, fmt.Errorf("records of %d bytes, each %d after the one before, between a header of %d and a footer of %d can't be", f.length, f.hop, f.header, f.footer)
	}
	if f.hop == 0 {
		f.hop = f.length
	}
	if how := as.String("encoding", ""); how != "" && how != "ZLIB" {
		return f, fmt.Errorf("the encoding %q is not ZLIB, nor empty", how)
	}
	return f, nil
}

// fixedReader cuts records of one length; keys are their numbers, from 0 on.
func fixedReader(work string, as graph.Attrs, r io.Reader, size int64) (pairs, error) {
	f, err := newFixedFormat(as)
	if err != nil {
		return nil, err
	}
	if as.String("encoding", "") == "ZLIB" {
		// How long it is shows when it ends.
		if r, err = decompressed(r, "ZLIB"); err != nil {
			return nil, err
		}
		size = -1
	} else if size < f.header+f.footer {
		return nil, fmt.Errorf("%d bytes are fewer than those of header and footer", size)
	}
	return &fixedPairs{fixedFormat: f, work: work, r: bufio.NewReaderSize(r, int(min(f.length+f.footer, 1<<20))+16), end: size - f.footer}, nil
}

// fixedPairs are records of one length.
type fixedPairs struct {
	fixedFormat
	work string
	r    *bufio.Reader
	end  int64 // of the records; if negative, the end of the file without the footer

	at, count int64
	last      []byte // the record before, if records overlap
}

func (x *fixedPairs) next(c *engine.Call) (key, value string, err error) {
	if x.count == 0 {
		if err := x.skip(c, x.header); err != nil {
			return "", "", err
		}
	}
	kept := x.last[min(x.hop, int64(len(x.last))):]
	if gap := x.hop - x.length; x.count > 0 && gap > 0 {
		if err := x.skip(c, gap); err != nil {
			return "", "", err
		}
	}
	more := x.length - int64(len(kept))
	if x.end >= 0 && x.at+more > x.end {
		return "", "", io.EOF
	}
	b, err := readFull(c, x.r, uint64(more))
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	if err != nil {
		return "", "", err
	}
	if x.end < 0 && x.footer > 0 { // a record that reaches into the footer is none
		if ahead, _ := x.r.Peek(int(min(x.footer, 1<<20))); int64(len(ahead)) < min(x.footer, 1<<20) {
			return "", "", io.EOF
		}
	}
	x.at += more
	x.last = append(append([]byte{}, kept...), b...)
	key = fmt.Sprintf("%s:%d", x.work, x.count)
	x.count++
	return key, string(x.last), nil
}

// skip leaves bytes out.
func (x *fixedPairs) skip(c *engine.Call, n int64) error {
	if x.end >= 0 && x.at+n > x.end {
		return io.EOF
	}
	k, err := discard(c, x.r, n)
	x.at += k
	return err
}
