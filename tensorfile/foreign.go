package tensorfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnml/cairn/bundle"
)

// ForeignError reports that a file has a format that this program doesn't read
// or write, with a hint.
type ForeignError struct {
	Path string
	Kind string // its kind: "an ONNX model", "a PyTorch file", …
	Hint string // remedy
}

// Error names the kind of file and the remedy.
func (e *ForeignError) Error() string { return fmt.Sprintf("%s is %s: %s", e.Path, e.Kind, e.Hint) }

// foreign is a kind of file that others write.
type foreign struct {
	suffixes []string
	magic    string // the beginning of such files, "" if only the name shows the kind
	kind     string
	hint     string
}

// foreigners are the known kinds. The first with a matching beginning counts, otherwise the first with
// the suffix. To explain a further kind, add a row.
var foreigners = []foreign{
	{[]string{".he5"}, "\x89HDF\r\n\x1a\n", "an HDF5 file", "give it a name that ends in .h5"},
	{[]string{".npy"}, "\x93NUMPY", "a single numpy array", "put it under a name into a .npz: numpy.savez('x.npz', name=array)"},
	{[]string{".pb", ".pbtxt"}, "", "a graph alone", "its values are constants of the graph, which are read and not written; if the graph is a SavedModel's, give its directory"},
	{[]string{".meta"}, "", "a MetaGraph, the graph that belongs to a checkpoint", "the values lie in the checkpoint beside it"},
	{[]string{".pt", ".pth"}, "", "a PyTorch file", "in Python save its state_dict with safetensors.torch.save_file"},
	{[]string{".onnx"}, "", "an ONNX model", "only its exporter knows the checkpoint it was made of"},
	{[]string{".html", ".htm"}, "<!DOCTYPE", "an HTML page, not the file that it offers", "open it in a browser, and download the file that it leads to"},
	{[]string{".html"}, "<!doctype", "an HTML page, not the file that it offers", "open it in a browser, and download the file that it leads to"},
	{[]string{".html"}, "<html", "an HTML page, not the file that it offers", "open it in a browser, and download the file that it leads to"},
	{[]string{".tflite"}, "", "a TensorFlow Lite model", "only its converter knows the SavedModel it was made of"},
	{[]string{".gguf"}, "GGUF", "a GGUF file", "take the model's .safetensors files instead"},
	{[]string{".zip", ".tar", ".gz", ".tgz"}, "", "an archive", "unpack it first"},
}

// describeForeign adds the kind of the file to the error of a path at which no
// checkpoint was found.
func describeForeign(path string, err error) error {
	var p *bundle.PathError
	if !errors.As(err, &p) {
		return err
	}
	return cmp.Or(CheckForeign(path), err)
}

// CheckForeign returns a *[ForeignError] if path is a file of a kind that this
// program doesn't read.
func CheckForeign(path string) error {
	if !isFile(path) {
		return nil
	}
	f, ok := foreignFile(path)
	if !ok {
		return nil
	}
	e := &ForeignError{path, f.kind, f.hint}
	switch f.suffixes[0] {
	case ".meta":
		prefix := strings.TrimSuffix(path, filepath.Ext(path))
		e.Hint = "the checkpoint's prefix is " + prefix
		if !isFile(prefix + ".index") {
			e.Hint = "its checkpoint, of the prefix " + prefix + ", is not there"
		}
	case ".pb":
		if strings.HasPrefix(filepath.Base(path), "saved_model.") {
			e.Kind, e.Hint = "a SavedModel's graph", "give its directory, "+filepath.Dir(path)
		}
	}
	return e
}

// foreignFile returns the kind of a file by its first bytes, or else by its name. A file that can't be
// opened is known by its name.
func foreignFile(path string) (foreign, bool) {
	var head [16]byte
	if file, err := os.Open(path); err == nil {
		n, _ := io.ReadFull(file, head[:]) // a short file has no magic
		file.Close()
		if n >= 8 && string(head[4:8]) == "TFL3" {
			return foreignName("x.tflite")
		}
		for _, f := range foreigners {
			if f.magic != "" && bytes.HasPrefix(head[:n], []byte(f.magic)) {
				return f, true
			}
		}
	}
	return foreignName(path)
}

// foreignName returns the kind of a file by its suffix.
func foreignName(path string) (foreign, bool) {
	suffix := strings.ToLower(filepath.Ext(path))
	for _, f := range foreigners {
		for _, s := range f.suffixes {
			if s == suffix {
				return f, true
			}
		}
	}
	return foreign{}, false
}

// CheckTarget returns an error unless a file or a checkpoint of that name can be
// written. With the suffix of another format a checkpoint would look like a file
// of that format.
func CheckTarget(path string) error {
	if isShardIndex(path) {
		return &ForeignError{path, "the name of an index of .safetensors files", "one .safetensors file, of whatever size, is written without an index"}
	}
	if path == "-" {
		return errors.New("several files, or one that is written out of order, can't go to stdout; name a file, and ./- for one called so")
	}
	if f, ok := foreignName(path); ok {
		return &ForeignError{path, "the name of " + f.kind, "this program writes .npz, .safetensors, .h5, .keras and, under any other name, checkpoints"}
	}
	return nil
}
