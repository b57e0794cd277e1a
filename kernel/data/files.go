package data

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of TextLineDataset, TFRecordDataset, FixedLengthRecordDataset,
// their second versions, and MatchingFilesDataset.

// records cuts a file into texts.
type records interface {
	// next returns the next record, or io.EOF if there is none.
	next(c *engine.Call) ([]byte, error)
}

// contents cuts a file into elements.
type contents interface {
	// next returns the next element, or io.EOF if there is none.
	next(c *engine.Call) (element, error)
}

// texts are records as elements.
type texts struct{ records }

func (x texts) next(c *engine.Call) (element, error) {
	b, err := x.records.next(c)
	return element{engine.ValueOf(tensor.Scalar(string(b)))}, err
}

// fileSource reads the records of files, one file after the other. Each is
// opened when its first record is requested, under the grant of that call, and
// closed after its last.
type fileSource struct {
	node        *engine.Node
	names       []string
	compression string
	open        func(i int, r *bufio.Reader, size int64) (contents, error) // size is -1 if it isn't known
}

func (s *fileSource) iterate(*engine.Call, int) (iterator, error) {
	return &fileIterator{fileSource: s}, nil
}

type fileIterator struct {
	*fileSource
	at      int // the file that comes next
	file    fs.File
	current contents
}

func (x *fileIterator) next(c *engine.Call) (element, bool, error) {
	for {
		if x.current == nil {
			if x.at >= len(x.names) {
				return nil, false, nil
			}
			if err := x.begin(c); err != nil {
				return nil, false, err
			}
		}
		e, err := x.current.next(c)
		switch {
		case err == io.EOF:
			x.end()
		case err != nil:
			name := x.names[x.at-1]
			// After a bad record the next call reads the next record; after
			// another error, the next file.
			if !errors.Is(err, errRecord) {
				x.end()
			}
			return nil, false, fmt.Errorf("%s: %w", name, err)
		default:
			return e, true, nil
		}
	}
}

// begin opens the file that comes next.
func (x *fileIterator) begin(c *engine.Call) error {
	name := x.names[x.at]
	x.at++
	fsys, place, err := c.ReadingFor(x.node, name)
	if err != nil {
		return err
	}
	f, err := fsys.Open(place)
	if err != nil {
		return err
	}
	size := int64(-1)
	if info, err := f.Stat(); err == nil && x.compression == "" {
		size = info.Size()
	}
	r, err := decompressed(f, x.compression)
	if err == nil {
		x.current, err = x.open(x.at-1, bufio.NewReader(r), size)
	}
	if err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", name, err)
	}
	x.file = f
	return nil
}

// end closes the file; the next call begins another one.
func (x *fileIterator) end() {
	x.file.Close()
	x.file, x.current = nil, nil
}

// errRecord is the error of a record after which others can be read.
var errRecord = errors.New("the record can't be read")

// decompressed returns the decompressed contents of a file.
func decompressed(r io.Reader, how string) (io.Reader, error) {
	switch how {
	case "":
		return r, nil
	case "GZIP":
		return gzip.NewReader(r)
	case "ZLIB":
		return zlib.NewReader(r)
	}
	return nil, fmt.Errorf("the compression %q is none of ZLIB and GZIP, nor empty", how)
}

// discard skips n bytes, or fewer if the context ends. It returns the number of
// skipped ones.
func discard(c *engine.Call, r io.Reader, n int64) (done int64, err error) {
	for done < n && err == nil {
		var k int64
		k, err = io.CopyN(io.Discard, r, min(n-done, 1<<20))
		done += k
		if err == nil {
			err = c.Context().Err()
		}
	}
	return done, err
}

// readFull reads n bytes, as far as an output may take them.
func readFull(c *engine.Call, r io.Reader, n uint64) ([]byte, error) {
	const piece = 1 << 20
	if n > 1<<62 {
		return nil, fmt.Errorf("a record of %d bytes", n)
	}
	if err := c.Afford(int64(n)); err != nil {
		return nil, err
	}
	var b []byte
	for uint64(len(b)) < n {
		from := len(b)
		b = slices.Grow(b, int(min(n-uint64(from), piece)))
		b = b[:from+int(min(n-uint64(from), piece))]
		if k, err := io.ReadFull(r, b[from:]); err != nil {
			if err == io.EOF && from+k > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return b, nil
}

// lines are the lines of a text; carriage returns don't belong to them.
type lines struct{ r *bufio.Reader }

func (x lines) next(c *engine.Call) ([]byte, error) {
	var line []byte
	for {
		part, err := x.r.ReadSlice('\n')
		line = append(line, part...)
		if tooMuch := c.Afford(int64(len(line))); tooMuch != nil {
			return nil, tooMuch
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(line) == 0:
			return nil, io.EOF
		case err != nil && err != io.EOF:
			return nil, err
		}
		return bytes.ReplaceAll(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'}, nil), nil
	}
}

// tfRecords are length-prefixed records with checksums.
type tfRecords struct{ r *bufio.Reader }

func (x tfRecords) next(c *engine.Call) ([]byte, error) {
	var head [12]byte
	if _, err := io.ReadFull(x.r, head[:]); err != nil {
		if err == io.ErrUnexpectedEOF {
			err = io.EOF // as TensorFlow has it: a writer may have been stopped there
		}
		return nil, err
	}
	if crc32c.Mask(crc32c.Value(head[:8])) != binary.LittleEndian.Uint32(head[8:]) {
		return nil, fmt.Errorf("the checksum of a record's length is wrong")
	}
	b, err := readFull(c, x.r, binary.LittleEndian.Uint64(head[:]))
	if err == nil || err == io.EOF {
		var tail [4]byte
		if _, err = io.ReadFull(x.r, tail[:]); err == nil && crc32c.Mask(crc32c.Value(b)) != binary.LittleEndian.Uint32(tail[:]) {
			err = fmt.Errorf("the checksum of a record is wrong")
		}
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("a record is cut off")
	}
	return b, err
}

// laterRecords are the records after an offset in bytes.
type laterRecords struct {
	tfRecords
	from int64 // 0 after the first record
}

func (x *laterRecords) next(c *engine.Call) ([]byte, error) {
	if x.from > 0 {
		if _, err := discard(c, x.r, x.from); err != nil {
			return nil, fmt.Errorf("offset %d: %w", x.from, err)
		}
		x.from = 0
	}
	return x.tfRecords.next(c)
}

// fixed are records of one length between a header and a footer.
type fixed struct {
	r              *bufio.Reader
	length, footer int64
	begun          bool
	header         int64
}

func (x *fixed) next(c *engine.Call) ([]byte, error) {
	if !x.begun {
		x.begun = true
		if n, err := discard(c, x.r, x.header); err != nil {
			if err == io.EOF {
				err = fmt.Errorf("a header of %d bytes in a file of %d", x.header, n)
			}
			return nil, err
		}
	}
	// The rest is the footer if the file ends after it.
	if x.footer > 0 {
		if ahead, err := x.r.Peek(int(x.footer) + 1); err == io.EOF {
			if int64(len(ahead)) < x.footer {
				return nil, fmt.Errorf("a footer of %d bytes is cut off", x.footer)
			}
			return nil, io.EOF
		} else if err != nil {
			return nil, err
		}
	} else if _, err := x.r.Peek(1); err != nil {
		return nil, err
	}
	b, err := readFull(c, x.r, uint64(x.length))
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = fmt.Errorf("the file has bytes after its last record of %d", x.length)
	}
	return b, err
}

// ofFiles prepares a dataset of the records of files. Input 0 names the files.
// The input at compression, unless that is 0, is their compression.
func ofFiles(compression int, open func(c *engine.Call, names []string) (func(int, *bufio.Reader, int64) (records, error), error)) func(*engine.Call) error {
	return func(c *engine.Call) error {
		names, err := stringsIn(c, 0, "the files' names")
		if err != nil {
			return err
		}
		s := &fileSource{node: c.Node(), names: names}
		if compression > 0 {
			how, err := stringsIn(c, compression, "the compression")
			if err != nil {
				return err
			}
			if len(how) != 1 {
				return fmt.Errorf("the compression is not one string")
			}
			s.compression = how[0]
			if s.compression != "" && s.compression != "ZLIB" && s.compression != "GZIP" {
				return fmt.Errorf("the compression %q is none of ZLIB and GZIP, nor empty", s.compression)
			}
		}
		cut, err := open(c, names)
		if err != nil {
			return err
		}
		s.open = func(i int, r *bufio.Reader, size int64) (contents, error) {
			x, err := cut(i, r, size)
			return texts{x}, err
		}
		c.SetObject(0, &Dataset{source: s, size: unknown, types: []tensor.DType{tensor.String}, shapes: scalarShapes(1)})
		return nil
	}
}

// textLines returns a function that opens files of lines. It and the two functions
// below are arguments of [ofFiles].
func textLines(*engine.Call, []string) (func(int, *bufio.Reader, int64) (records, error), error) {
	return func(_ int, r *bufio.Reader, _ int64) (records, error) { return lines{r}, nil }, nil
}

// recordsFrom returns a function that opens files of TFRecords; input 3, if
// there is one, is the offset of the first record in each file.
func recordsFrom(c *engine.Call, names []string) (func(int, *bufio.Reader, int64) (records, error), error) {
	var from []int64
	if c.NumIn() > 3 {
		t := c.In(3)
		if t == nil || t.DType() != tensor.Int64 || t.Len() > 0 && t.Len() != len(names) {
			return nil, fmt.Errorf("byte_offsets must be empty or have one int64 for each of the %d files", len(names))
		}
		from = slices.Clone(tensor.Values[int64](t))
	}
	return func(i int, r *bufio.Reader, _ int64) (records, error) {
		if i < len(from) && from[i] > 0 {
			return &laterRecords{tfRecords{r}, from[i]}, nil
		}
		return tfRecords{r}, nil
	}, nil
}

// fixedLength returns a function that opens files of records of one length. Inputs
// 1 to 3 are the lengths of header, record and footer, in bytes.
func fixedLength(c *engine.Call, _ []string) (func(int, *bufio.Reader, int64) (records, error), error) {
	var v [3]int64
	for i, what := range []string{"the header's length", "the record's length", "the footer's length"} {
		var err error
		if v[i], err = intIn(c, 1+i, what); err != nil {
			return nil, err
		}
		if v[i] < 0 || i == 1 && v[i] == 0 {
			return nil, fmt.Errorf("%s is %d", what, v[i])
		}
	}
	const most = 1 << 24 // bytes; the limit is Cairn's, because footers are read ahead
	if v[2] > most {
		return nil, fmt.Errorf("a footer of %d bytes is longer than %d", v[2], most)
	}
	return func(_ int, r *bufio.Reader, size int64) (records, error) {
		if body := size - v[0] - v[2]; size >= 0 && (body < 0 || body%v[1] != 0) {
			return nil, fmt.Errorf("%d bytes are no header of %d, records of %d and footer of %d", size, v[0], v[1], v[2])
		}
		if v[2] >= int64(r.Size()) {
			r = bufio.NewReaderSize(r, int(v[2])+1)
		}
		return &fixed{r: r, header: v[0], length: v[1], footer: v[2]}, nil
	}, nil
}

// matchingFiles makes a dataset of the names of the files that fit patterns, for
// each pattern in order.
func matchingFiles(c *engine.Call) error {
	patterns, err := stringsIn(c, 0, "the patterns")
	if err != nil {
		return err
	}
	node := c.Node()
	c.SetObject(0, &Dataset{size: unknown, types: []tensor.DType{tensor.String}, shapes: scalarShapes(1), source: sourceFunc(func(c *engine.Call, depth int) (iterator, error) {
		var names []string
		for _, p := range patterns {
			found, err := c.Glob(node, p)
			if err != nil {
				return nil, err
			}
			names = append(names, found...) // which Glob has sorted
		}
		all := make(list, len(names))
		for i, name := range names {
			all[i] = element{engine.ValueOf(tensor.Scalar(name))}
		}
		return all.iterate(c, depth)
	})})
	return nil
}
