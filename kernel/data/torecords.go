package data

import (
	"bufio"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/tfrecord"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// toRecords writes the elements of a dataset, one string each, to a file of
// TFRecords. It is the kernel of DatasetToTFRecord. The file is under its name
// only after the last record.
func toRecords(c *engine.Call) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	var text [2]string
	for i := range text {
		v, err := stringsIn(c, 1+i, "the file's name and its compression")
		if err != nil {
			return err
		}
		if len(v) != 1 {
			return fmt.Errorf("input %d is not one string", 1+i)
		}
		text[i] = v[0]
	}
	dir, place, err := c.Writing(text[0])
	if err != nil {
		return err
	}
	it, err := in.iterate(c, 0)
	if err != nil {
		return err
	}
	err = vfs.WriteFile(dir, place, func(w io.Writer) error { return writeRecords(c, it, w, text[1]) })
	if err != nil {
		return err
	}
	return dir.Sync()
}

// writeRecords writes the elements of an iterator.
func writeRecords(c *engine.Call, it iterator, f io.Writer, compression string) error {
	w := bufio.NewWriter(f)
	var to io.WriteCloser
	switch compression {
	case "":
		to = plain{w}
	case "ZLIB":
		to = zlib.NewWriter(w)
	case "GZIP":
		to = gzip.NewWriter(w)
	default:
		return fmt.Errorf("the compression %q is none of ZLIB and GZIP, nor empty", compression)
	}
	var record []byte
	for {
		e, ok, err := pull(c, it)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if len(e) != 1 || e[0].Tensor == nil || e[0].Tensor.DType() != tensor.String || e[0].Tensor.Len() != 1 {
			return fmt.Errorf("an element is not one string")
		}
		record = tfrecord.Append(record[:0], e[0].Tensor.Strings()[0])
		if _, err := to.Write(record); err != nil {
			return err
		}
	}
	if err := to.Close(); err != nil {
		return err
	}
	return w.Flush()
}

// plain is a writer with nothing to end.
type plain struct{ io.Writer }

func (plain) Close() error { return nil }
