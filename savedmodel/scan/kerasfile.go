package scan

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/cairnml/cairn/hdf5"
	"github.com/cairnml/cairn/internal/zipfile"
)

// The rules for Keras's files are those of Keras's deserialization, in serialization_lib.py of Keras 3
// and tf_keras: which objects of a description import modules or decode bytecode.

const (
	zipMagic  = "PK\x03\x04"
	hdf5Magic = "\x89HDF\r\n\x1a\n"
)

// kerasConfig is the file of a .keras archive that describes the model.
const kerasConfig = "config.json"

// maxKerasConfig bounds the bytes of a description that is decompressed. It may change.
const maxKerasConfig = 256 << 20

// kerasArchive scans a .keras file: the description of the model, and the other
// files in the archive.
func (s *scanner) kerasArchive(b []byte) error {
	z, err := zipfile.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return fmt.Errorf("scan: %w", err)
	}
	found := false
	for i, f := range z.File {
		if i == maxFiles {
			return fmt.Errorf("scan: the archive holds more than %d files", maxFiles)
		}
		s.name("file of the archive", f.Name, "", "")
		s.extraFile(f.Name, f.Mode())
		if f.Name != kerasConfig {
			continue
		}
		if found {
			s.add(Finding{Rule: ruleMalformed, Severity: High, Message: "the archive holds two files " + kerasConfig})
		}
		found = true
		text, err := readZipped(f)
		if err != nil {
			return err
		}
		s.kerasText(text, kerasConfig)
	}
	if !found {
		return &UnsupportedError{"a zip archive without " + kerasConfig + ", so no model of Keras"}
	}
	return nil
}

// readZipped reads a file of an archive.
func readZipped(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("scan: %s: %w", f.Name, err)
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxKerasConfig+1))
	if err == nil && len(text) > maxKerasConfig {
		err = fmt.Errorf("it is longer than %d bytes", maxKerasConfig)
	}
	if err != nil {
		return nil, fmt.Errorf("scan: %s: %w", f.Name, err)
	}
	return text, nil
}

// kerasText scans a description of a model.
func (s *scanner) kerasText(text []byte, name string) {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		s.add(Finding{Rule: ruleMalformed, Severity: High, Message: name + " is no JSON"})
		return
	}
	s.kerasValue(v)
}

// maxAttempts bounds the time of the search for descriptions, which may look at a byte several times: in
// multiples of the file's bytes. It may change.
const maxAttempts = 8

// kerasHDF5 scans an HDF5 file. The description of the model is the text of an
// attribute, which HDF5 neither compresses nor splits: every JSON object among the
// bytes is looked at, wherever it is.
func (s *scanner) kerasHDF5(b []byte) error {
	found, budget := false, maxAttempts*len(b)
	for at := 0; ; {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		i := bytes.Index(b[at:], []byte("{"))
		if i < 0 {
			break
		}
		at += i
		n := jsonObject(s.ctx, b[at:])
		if n <= 0 {
			if budget += n; budget < 0 {
				return errors.New("scan: the file holds so many broken descriptions that it can't be scanned in reasonable time")
			}
			at++
			continue
		}
		var v any
		if json.Unmarshal(b[at:at+n], &v) == nil && describesLayers(v, 0) {
			found = true
			s.kerasValue(v)
		}
		at += n
	}
	if !found && bytes.Contains(b, []byte("model_config")) {
		return errors.New("scan: the file has a model_config, whose text can't be found, so the file can't be scanned")
	}
	// A file of weights is clean, a damaged one is not.
	if _, err := hdf5.Open(bytes.NewReader(b), int64(len(b)), nil); err != nil && !(found && errors.Is(err, errors.ErrUnsupported)) {
		if !found {
			return fmt.Errorf("scan: %w", err)
		}
		s.add(Finding{Rule: ruleMalformed, Severity: High, Message: strings.TrimPrefix(err.Error(), "hdf5: ")})
	}
	return nil
}

// jsonObject returns the length of the JSON object that b begins with. If there
// is none, or if the context ends, it returns the negative number of bytes that it looked at.
func jsonObject(ctx context.Context, b []byte) int {
	if next := bytes.TrimLeft(b[1:min(len(b), 64)], " \t\r\n"); len(next) == 0 || next[0] != '"' {
		return -1
	}
	depth, inText, checked := 0, false, 0
	for i := 0; i < len(b); i++ {
		if i-checked >= 1<<20 {
			if checked = i; ctx.Err() != nil {
				return -i
			}
		}
		switch c := b[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case c == 0:
			return -i // no byte of JSON
		}
	}
	return -len(b)
}

// maxJSONDepth bounds the walks over descriptions; encoding/json allows no more.
const maxJSONDepth = 10_000

// describesLayers reports whether a JSON value has the form of Keras's
// descriptions.
func describesLayers(v any, depth int) bool {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["class_name"]; ok {
			return true
		}
		for _, x := range v {
			if depth < maxJSONDepth && describesLayers(x, depth+1) {
				return true
			}
		}
	case []any:
		return depth < maxJSONDepth && slices.ContainsFunc(v, func(x any) bool { return describesLayers(x, depth+1) })
	}
	return false
}

// kerasModules are the packages whose classes and functions a description may
// name: Keras imports any other one when it loads the model.
var kerasModules = []string{"keras", "tf_keras", "keras_hub", "keras_cv", "keras_nlp", "builtins"}

// kerasValue looks for Python code in a description, and for names that make Keras
// import modules.
func (s *scanner) kerasValue(v any) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			s.kerasValue(x)
		}
	case map[string]any:
		s.kerasObject(v)
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			s.kerasValue(v[key])
		}
	}
}

// kerasObject reports the modules that Keras would import, and the code that it would run, for one object
// of a description.
func (s *scanner) kerasObject(v map[string]any) {
	class, _ := v["class_name"].(string)
	module, _ := v["module"].(string)
	config, _ := v["config"].(map[string]any)
	name, _ := config["name"].(string)
	if name == "" {
		name, _ = v["name"].(string)
	}
	f := Finding{Rule: ruleLambda, Severity: Warning, Node: name, Op: class}
	switch {
	case class == "Lambda":
		f.Message = fmt.Sprintf("the Lambda layer %q calls a Python function", clip(name))
		if carriesCode(config["function"], config["function_type"]) {
			f.Severity, f.Message = High, fmt.Sprintf("the Lambda layer %q carries a Python function as bytecode", clip(name))
		}
		s.add(f)
	case class == "__lambda__":
		f.Severity, f.Message = High, "the description carries a Python function as bytecode"
		s.add(f)
	case class != "" && module != "" && module != "__main__" && !keras(module):
		f.Message = fmt.Sprintf("loading imports %s of the Python module %q", clip(imported(v)), clip(module))
		if slices.Contains(systemModules, strings.SplitN(module, ".", 2)[0]) {
			f.Severity = High
		}
		s.add(f)
	case module == "builtins" && slices.Contains(builtinCode, imported(v)):
		f.Severity, f.Message = High, fmt.Sprintf("loading finds Python's %s", imported(v))
		s.add(f)
	}
}

// imported returns the name that an object of a description imports: a function's
// is its config.
func imported(v map[string]any) string {
	if name, ok := v["config"].(string); ok {
		return name
	}
	class, _ := v["class_name"].(string)
	return class
}

// systemModules are Python modules that run programs and code, and reach files
// and networks.
var systemModules = strings.Fields(`os posix nt subprocess sys runpy socket shutil importlib ctypes pty pickle marshal code codeop
	multiprocessing webbrowser commands platform tempfile urllib http ftplib smtplib requests`)

// builtinCode are Python's own functions that run code or open files.
var builtinCode = strings.Fields(`eval exec compile open __import__ getattr setattr input breakpoint`)

// carriesCode reports whether a Lambda layer's function is bytecode: a list of
// code, defaults and closure, also as a __tuple__, or an object of the class
// __lambda__.
func carriesCode(function, kind any) bool {
	switch f := function.(type) {
	case []any:
		return true
	case map[string]any:
		if f["class_name"] == "__lambda__" || f["class_name"] == "__tuple__" {
			return true
		}
	}
	return kind == "lambda"
}

// keras reports whether a module is of the packages kerasModules.
func keras(module string) bool {
	first, _, _ := strings.Cut(module, ".")
	return slices.Contains(kerasModules, first)
}

// otherModels are the formats of files that are no models of TensorFlow's.
var otherModels = map[string]string{
	".onnx": "an ONNX model", ".tflite": "a TensorFlow Lite model", ".pkl": "a pickle, which runs code when it is loaded",
	".pickle": "a pickle, which runs code when it is loaded", ".joblib": "a joblib file, which runs code when it is loaded",
	".pt": "a PyTorch file", ".pth": "a PyTorch file", ".safetensors": "a file of tensors, which holds no code",
}

// otherModel returns the format of a file that no scan supports, by the suffix
// of its name; "" if the suffix is unknown.
func otherModel(name string) string { return otherModels[strings.ToLower(path.Ext(name))] }
