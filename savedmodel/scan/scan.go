package scan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensorfile"
)

// maxFile is the size in bytes of the largest single file that is scanned, also one of Keras. A protocol
// buffer can't be larger.
const maxFile = 1 << 31

// Path scans a path of the operating system: a SavedModel's directory, a
// saved_model.pb, the file of a GraphDef or one of Keras; see [Bytes].
func Path(ctx context.Context, path string, opts *savedmodel.ReadOptions) (*Report, error) {
	r, err := scanPath(ctx, path, opts)
	if err != nil && !strings.Contains(err.Error(), path) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return r, err
}

func scanPath(ctx context.Context, path string, opts *savedmodel.ReadOptions) (*Report, error) {
	if dir, ok := tensorfile.FindModel(nil, path); ok {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = dir // of a model server, its latest version
		}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return Dir(ctx, os.DirFS(path), path, opts)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("the file is too large for a graph (got %d bytes, want at most %d)", info.Size(), int64(maxFile))
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Bytes(ctx, b, path, opts)
}

// Dir scans the SavedModel in a directory, which the report calls name.
func Dir(ctx context.Context, fsys fs.FS, name string, o *savedmodel.ReadOptions) (*Report, error) {
	s := &scanner{ctx: ctx, report: &Report{Path: name, Findings: []Finding{}}, file: savedmodel.GraphFile}
	if err := s.extraFiles(fsys); err != nil {
		return nil, err
	}
	m, err := savedmodel.Read(ctx, fsys, o)
	if m != nil && m.File != "" {
		s.file = m.File
	}
	return s.finish(m, err)
}

// Bytes scans the contents of a saved_model.pb, of its text form if the name ends
// in .pbtxt, of a file with a GraphDef alone, or of a model of Keras: a .keras
// archive or an HDF5 file. Other formats are an error.
func Bytes(ctx context.Context, b []byte, name string, o *savedmodel.ReadOptions) (*Report, error) {
	s := &scanner{ctx: ctx, report: &Report{Path: name, Findings: []Finding{}, single: true}, file: path.Base(filepath.ToSlash(name))}
	keras := s.kerasHDF5
	switch {
	case bytes.HasPrefix(b, []byte(zipMagic)):
		keras = s.kerasArchive
	case !bytes.HasPrefix(b, []byte(hdf5Magic)):
		keras = nil
	}
	if keras != nil {
		if err := keras(b); err != nil {
			return nil, err
		}
		s.close()
		return s.report, ctx.Err()
	}
	if what := otherModel(name); what != "" {
		return nil, &UnsupportedError{what}
	}
	// A GraphDef begins with a message, its first node. A SavedModel begins with a
	// number, or with a message in field 2, a MetaGraph.
	if len(b) > 0 && b[0] == 1<<3|2 && !strings.HasSuffix(name, ".pbtxt") {
		g, err := graph.Unmarshal(b, nil)
		if err != nil {
			s.add(Finding{Rule: ruleMalformed, Severity: High, Message: s.file + ": " + strings.TrimPrefix(err.Error(), "graph: ")})
		} else {
			s.graph(g, nil)
		}
		s.close()
		return s.report, ctx.Err()
	}
	decode := savedmodel.Unmarshal
	if strings.HasSuffix(name, ".pbtxt") {
		decode = savedmodel.UnmarshalText
	}
	m, err := decode(b, o)
	if err != nil && strings.HasSuffix(name, ".pbtxt") && s.file != savedmodel.TextGraphFile {
		if g, graphErr := savedmodel.UnmarshalGraphDefText(b, o); graphErr == nil {
			m, err = g, nil
		}
	}
	return s.finish(m, err)
}

// UnsupportedError reports a file of a format that is not scanned. It is an
// [errors.ErrUnsupported].
type UnsupportedError struct {
	// Format describes the file, such as "an ONNX model".
	Format string
}

// Error returns the format, and those that are scanned.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("scan: it is %s; SavedModels, GraphDefs, .keras and .h5 files are scanned", e.Format)
}

// Is reports whether target is [errors.ErrUnsupported].
func (e *UnsupportedError) Is(target error) bool { return target == errors.ErrUnsupported }

// scanner is one scan. It runs nothing of the model.
type scanner struct {
	ctx    context.Context
	report *Report                 // with the findings so far
	file   string                  // that findings name: of the graph
	tags   []string                // of the MetaGraph that is scanned
	at     map[findingKey]int      // the indices of findings in the report
	listed [len(severityNames)]int // findings by severity, with those that are not listed
	assets *assets                 // of the MetaGraph; nil for a graph without one

	within string          // the place of the serialized graph that is scanned, and ": "
	depth  int             // the number of serialized graphs around the present one
	graphs map[string]bool // the serialized graphs that were scanned
}

// finish scans a model that was read. A file that contradicts itself is a
// finding; one that can't be read is an error.
func (s *scanner) finish(m *savedmodel.SavedModel, err error) (*Report, error) {
	var format *savedmodel.FormatError
	switch {
	case errors.As(err, &format) && !errors.Is(err, errors.ErrUnsupported):
		message := strings.TrimPrefix(err.Error(), "savedmodel: ")
		if s.report.single && format.File != "" {
			message = s.file + ": " + format.Err.Error() // by its own name
		}
		s.add(Finding{Rule: ruleMalformed, Severity: High, Message: message})
	case err != nil:
		return nil, err
	default:
		for _, g := range m.MetaGraphs {
			s.metaGraph(g)
		}
	}
	s.close()
	return s.report, s.ctx.Err()
}

func (s *scanner) metaGraph(g *savedmodel.MetaGraph) {
	s.tags = g.Tags
	gr, err := g.Graph()
	if err != nil {
		s.add(Finding{Rule: ruleMalformed, Severity: High, Message: strings.TrimPrefix(err.Error(), "savedmodel: ")})
		return
	}
	s.assets = assetsOf(g, gr)
	s.graph(gr, reachOf(g, gr))
	for _, sig := range g.Signatures {
		s.name("signature", sig.Name, "", "")
		for _, t := range append(slices.Clone(sig.Inputs), sig.Outputs...) {
			s.name("signature "+sig.Name+": tensor", t.Name, "", "")
		}
	}
	for _, a := range g.Assets {
		s.name("asset", a.Name, "", "")
	}
	for _, o := range g.Objects {
		for _, e := range o.Children {
			s.name("edge of an object", e.Name, "", "")
		}
	}
	s.keras(g)
}

// keras looks for layers that carry Python code.
func (s *scanner) keras(g *savedmodel.MetaGraph) {
	list, err := g.Keras()
	if err != nil {
		s.add(Finding{Rule: ruleMalformed, Severity: High, Message: strings.TrimPrefix(err.Error(), "savedmodel: ")})
		return
	}
	for _, k := range list {
		var v any
		if json.Unmarshal([]byte(k.Metadata), &v) == nil {
			s.kerasValue(v)
			continue
		}
		// A function is a triple of marshalled bytecode, defaults and closure.
		if k.Class == "Lambda" || strings.Contains(k.Metadata, `"function_type": "lambda"`) || strings.Contains(k.Metadata, `"class_name": "__lambda__"`) {
			s.add(Finding{Rule: ruleLambda, Severity: Warning, Message: fmt.Sprintf("the Keras %s %q carries a Python function as bytecode", k.Class, k.Name)})
		}
	}
}

// graph scans the nodes of a graph and of its functions.
func (s *scanner) graph(g *graph.Graph, r *reach) {
	s.body(g, "", r)
	calls := &callGraph{}
	if g.Library != nil {
		for _, f := range g.Library.Functions() {
			if s.ctx.Err() != nil {
				return
			}
			s.report.Functions++
			s.name("function", f.Name, f.Name, "")
			s.body(f.Graph, f.Name, r)
			calls.add(f)
		}
	}
	for _, loop := range calls.loops() {
		s.add(Finding{Rule: ruleRecursion, Severity: Warning, Function: loop[0], Message: "calls itself: " + strings.Join(loop, " → ")})
	}
}

func (s *scanner) body(g *graph.Graph, function string, r *reach) {
	nodes := g.Nodes()
	s.report.Nodes += len(nodes)
	for i, n := range nodes {
		if i%4096 == 0 && s.ctx.Err() != nil {
			return
		}
		if n.IsArg() {
			continue
		}
		s.node(g, n, function, r.of(n))
	}
	if loop := dataCycle(nodes); loop != nil {
		s.add(Finding{Rule: ruleCycle, Severity: High, Function: function, Node: loop[0], Message: "these nodes need each other: " + strings.Join(loop, ", ")})
	}
}

func (s *scanner) node(g *graph.Graph, n *graph.Node, function, reached string) {
	f := Finding{Function: function, Node: n.Name, Op: n.Op, Reached: reached}
	s.name("node", n.Name, function, n.Op)
	if n.Def == nil && (g.Library == nil || g.Library.Lookup(n.Op) == nil) || n.Def != nil && graph.LookupOp(n.Op) == nil && (g.Library == nil || g.Library.Lookup(n.Op) == nil) {
		f.Rule, f.Severity, f.Message = ruleUnknown, Warning, fmt.Sprintf("%s isn't an op of TensorFlow 2.21", n.Op)
		if n.Def != nil {
			f.Message += "; the file defines it"
		}
		s.add(f)
	}
	s.effects(f, n)
	s.sizes(f, n)
	s.paths(f, n)
	s.callees(f, n)
}

// callees looks for functions that aren't there.
func (s *scanner) callees(f Finding, n *graph.Node) {
	check := func(c graph.Callee) {
		if c.Function == nil && c.Name != "" && graph.LookupOp(c.Name) == nil {
			f.Rule, f.Severity, f.Message = ruleDangling, Warning, fmt.Sprintf("calls the function %q, which the library lacks", clip(c.Name))
			s.add(f)
		}
	}
	for _, a := range n.Attrs {
		switch v := a.Value().(type) {
		case graph.Callee:
			check(v)
		case []graph.Callee:
			for _, c := range v {
				check(c)
			}
		}
	}
}

// name checks a name in the file.
func (s *scanner) name(what, name, function, op string) {
	why := ""
	switch {
	case !utf8.ValidString(name):
		why = "is no UTF-8"
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }):
		why = "holds control characters"
	case slices.Contains(strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' }), ".."):
		why = "holds a step to the directory above"
	case len(name) > maxName:
		why = fmt.Sprintf("has %d bytes", len(name))
	default:
		return
	}
	s.add(Finding{Rule: ruleName, Severity: Warning, Function: printable(function), Op: op, Message: fmt.Sprintf("the name of the %s %q %s", what, clip(name), why)})
}

// maxName is the largest number of bytes of a name that isn't reported. It is Cairn's and may change.
const maxName = 4096

func printable(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return fmt.Sprintf("%q", s)
}

// clip shortens a quoted text to 80 bytes.
func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

// programs are suffixes of files that are programs or that carry them.
var programs = map[string]bool{
	".so": true, ".dll": true, ".dylib": true, ".exe": true, ".sh": true, ".bat": true, ".py": true, ".pyc": true, ".pkl": true,
	".pickle": true, ".joblib": true, ".dill": true, ".js": true, ".wasm": true, ".jar": true,
}

// extraFiles checks the other files of the model's directory.
func (s *scanner) extraFiles(fsys fs.FS) error {
	seen := 0
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if seen++; seen > maxFiles {
			s.add(Finding{Rule: ruleMore, Severity: Warning, Message: fmt.Sprintf("the directory has more than %d files, of which the rest is not scanned", maxFiles)})
			return fs.SkipAll
		}
		s.extraFile(name, d.Type())
		return s.ctx.Err()
	})
	if err != nil {
		return fmt.Errorf("scan: %w", err)
	}
	return nil
}

// extraFile reports a file that is a program or can carry one.
func (s *scanner) extraFile(name string, mode fs.FileMode) {
	f := Finding{Rule: ruleExtra, Severity: Warning, File: name}
	switch {
	case mode&fs.ModeSymlink != 0:
		f.Message = fmt.Sprintf("%q is a symbolic link", name)
	case mode.IsDir():
		return
	case mode&fs.ModeType != 0:
		f.Message = fmt.Sprintf("%q is no regular file", name)
	case programs[strings.ToLower(path.Ext(name))]:
		f.Message = fmt.Sprintf("%q can carry a program", name)
	default:
		return
	}
	s.add(f)
}

// maxFiles is the number of files of a directory, or of an archive, that are examined. More are a finding
// in a directory, and an error in an archive. The number is Cairn's and may change.
const maxFiles = 100_000
