package tensorfile

import (
	"io"

	"github.com/cairnml/cairn/vfs"
)

// An aheadWriter has the disk work on a file while more of it is written, so that
// the Sync at the end has less to wait for.
type aheadWriter struct {
	vfs.File
	hints          vfs.Hinter
	written, asked int64 // bytes written, and bytes that the disk was asked to store
}

// The sizes may change: they decide the time of a write, never the bytes.
const (
	aheadStep  = 8 << 20 // bytes after which the disk is asked to begin
	aheadPiece = 1 << 20 // bytes of a Write for which space is allocated before
)

// ahead returns a writer that writes to f from its beginning, for [Output]. A file without hints is
// written directly.
func ahead(f vfs.File) io.Writer {
	if h, ok := f.(vfs.Hinter); ok {
		return &aheadWriter{File: f, hints: h}
	}
	return f
}

// Write writes p and sends hints to the system.
func (w *aheadWriter) Write(p []byte) (int, error) {
	if len(p) >= aheadPiece {
		w.hints.Preallocate(w.written, int64(len(p)))
	}
	total := 0
	for {
		n, err := w.File.Write(p[:min(len(p), aheadStep)])
		total += n
		if w.written += int64(n); w.written-w.asked >= aheadStep {
			w.hints.StartWriteback(w.asked, w.written-w.asked)
			w.asked = w.written
		}
		if p = p[n:]; err != nil || len(p) == 0 {
			return total, err
		}
	}
}
