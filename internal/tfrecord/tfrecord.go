// Package tfrecord writes TensorFlow's files of records: TFRecords, and the events
// of summaries. Packages keras/callbacks, kernel/data and kernel/internal/events use it.
// The format is TensorFlow's (tsl/lib/io/record_writer.cc) and must stay.
package tfrecord

import (
	"encoding/binary"

	"github.com/cairnml/cairn/internal/crc32c"
)

// Append appends a record to b: its length and its bytes, each with a masked CRC-32C.
func Append(b []byte, record string) []byte {
	from := len(b)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(record)))
	b = binary.LittleEndian.AppendUint32(b, crc32c.Mask(crc32c.Value(b[from:])))
	b = append(b, record...)
	return binary.LittleEndian.AppendUint32(b, crc32c.Mask(crc32c.Value(b[len(b)-len(record):])))
}
