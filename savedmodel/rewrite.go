package savedmodel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// RewriteOptions changes how a model is written again; nil means the defaults.
type RewriteOptions struct {
	// Edit changes the objects of the model before they are saved. A model of TensorFlow
	// 1, or of several MetaGraphs, has none, and Edit is not called. Default: no change.
	Edit func(*Restored) error
	// Run is [RestoreOptions].Run. Default: a model whose own functions restore
	// variables is an error.
	Run graph.Runner
	// Note is called with facts about the copy that the caller should know.
	// Default: it isn't called.
	Note func(text string)
	// Save is the options of [SaveFS]. Aliases, namespaces, defaults of
	// signatures and tags that are not set are those of the model. Default:
	// SaveOptions's defaults.
	Save *SaveOptions
}

// Rewrite writes a model that was read into the directory called name of dir.
//
// A model with an object graph is restored and saved, as [Restore] and [SaveFS]
// do. A model of TensorFlow 1, or of several MetaGraphs, is written again from
// its graphs, signatures, collections and savers. Its variables are copied in
// their stored form. Keras's description of the objects, requests for warming
// up a server and assets are copied too.
//
// If a registered saver that the program doesn't have wrote values, it is
// unknown which variables they belong to. Such a model is written again from
// its graphs too, with its variables as they are stored. Editing it is an
// error.
func Rewrite(ctx context.Context, m *SavedModel, dir vfs.Dir, name string, opts *RewriteOptions) error {
	if opts == nil {
		opts = new(RewriteOptions)
	}
	if len(m.MetaGraphs) != 1 || len(m.MetaGraphs[0].Objects) == 0 {
		return m.rewriteGraphs(ctx, dir, name)
	}
	g := m.MetaGraphs[0]
	r, err := g.Restore(ctx, &RestoreOptions{Run: opts.Run})
	if err != nil {
		return err
	}
	if err := r.foreign.check(); err != nil {
		return err
	}
	if err := m.checkCheckpoint(ctx); err != nil {
		return err
	}
	if len(r.Unfilled) > 0 && opts.Edit == nil && !r.byFunction {
		if opts.Note != nil {
			opts.Note(fmt.Sprintf("a registered saver that this program doesn't have wrote the values of %d variables, such as %s: the model's graph and variables are copied as they are stored, for programs that have the saver", len(r.Unfilled), r.Unfilled[0]))
		}
		return m.rewriteGraphs(ctx, dir, name)
	}
	if len(r.Unfilled) > 0 {
		return &SaveError{Path: r.Unfilled[0], Err: r.unfilledError()}
	}
	save, err := g.saveOptions(r, opts.Save)
	if err != nil {
		return err
	}
	if opts.Edit != nil {
		if err := opts.Edit(r); err != nil {
			return err
		}
	}
	s, err := newSaver(ctx, r.Root, new(Serializer), save)
	if err != nil {
		return err
	}
	if opts.Edit == nil {
		if err := r.checkWritten(s); err != nil {
			return err
		}
	}
	if err := g.keepOuter(s.model, opts.Edit != nil); err != nil {
		return err
	}
	if s.more, err = g.extraFiles(r, s); err != nil {
		return err
	}
	return s.write(ctx, dir, name)
}

// saveOptions returns options that keep the MetaGraph's properties besides its
// objects.
func (g *MetaGraph) saveOptions(r *Restored, given *SaveOptions) (*SaveOptions, error) {
	var o SaveOptions
	if given != nil {
		o = *given
	}
	if o.Tags == nil {
		o.Tags = slices.Clone(g.Tags)
	}
	o.Devices = true
	o.OmitSaver = o.OmitSaver || !g.HasSaver()
	if o.SignatureDefaults == nil {
		o.SignatureDefaults = map[string]map[string]*tensor.Tensor{}
		for _, s := range g.Signatures {
			for _, in := range s.Inputs {
				if in.Default == nil {
					continue
				}
				if o.SignatureDefaults[s.Name] == nil {
					o.SignatureDefaults[s.Name] = map[string]*tensor.Tensor{}
				}
				o.SignatureDefaults[s.Name][in.Name] = in.Default
			}
		}
	}
	if o.Namespaces == nil {
		uses, err := g.OpsUsed()
		if err != nil {
			return nil, err
		}
		for _, u := range uses {
			if space, _, found := strings.Cut(u.Op, ">"); found && !slices.Contains(o.Namespaces, space) {
				o.Namespaces = append(o.Namespaces, space)
			}
		}
	}
	if o.Aliases == nil && len(g.Aliases) > 0 {
		o.Aliases = g.aliasesOf(r)
	}
	return &o, nil
}

// aliased contains the traces of a model that have one alias.
type aliased struct{ traces []*graph.Concrete }

func (a *aliased) Traces() []*graph.Concrete { return a.traces }

// aliasesOf returns the traces of the restored objects by their aliases.
func (g *MetaGraph) aliasesOf(r *Restored) map[string]FunctionNode {
	out := map[string]FunctionNode{}
	for _, name := range slices.Sorted(maps.Keys(r.traces)) {
		alias, ok := g.Aliases[name]
		if !ok {
			continue
		}
		a, _ := out[alias].(*aliased)
		if a == nil {
			a = new(aliased)
			out[alias] = a
		}
		a.traces = append(a.traces, r.traces[name])
	}
	return out
}

// extraFiles returns the files of the model besides its graph, variables, assets and
// fingerprint. Keras's file names objects by their numbers, which a save may change.
func (g *MetaGraph) extraFiles(r *Restored, s *saver) ([]extraFile, error) {
	out, err := g.model.warmUp()
	if err != nil {
		return nil, err
	}
	debug, err := g.model.below(debugDir)
	if err != nil {
		return nil, err
	}
	out = append(out, debug...)
	b, most, err := readFile(g.model.fsys, KerasMetadataFile, g.model.opts)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	var p pb.SavedMetadata
	if err := checkMemory(KerasMetadataFile, &p, b, most); err != nil {
		return nil, err
	}
	if err := p.Unmarshal(b); err != nil {
		return nil, &FormatError{KerasMetadataFile, err}
	}
	p.Nodes = slices.DeleteFunc(p.Nodes, func(n *pb.SavedMetadataSavedObject) bool {
		if n.NodeId < 0 || int(n.NodeId) >= len(r.objects) || r.objects[n.NodeId] == nil {
			return true
		}
		obj := r.objects[n.NodeId]
		id, ok := s.number(obj)
		n.NodeId = int32(id)
		t := traitsOf(obj)
		return !ok || t == nil || t.Identifier != n.Identifier // an edit has removed or changed the object
	})
	if len(p.Nodes) == 0 {
		return out, nil
	}
	return append(out, extraFile{KerasMetadataFile, func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(string(p.Marshal()))), nil
	}}), nil
}

// extraFile is a file that a save copies.
type extraFile struct {
	name string
	open func() (io.ReadCloser, error)
}

// extraDir contains files for servers, such as requests for warming up.
const extraDir = "assets.extra"

// debugDir holds the stack traces of the program that made the graph, by its nodes.
const debugDir = "debug"

// warmUp lists the files of [extraDir].
func (m *SavedModel) warmUp() ([]extraFile, error) { return m.below(extraDir) }

// below lists the files below a directory of the model, or the file of that name; none if it isn't
// there. Nothing is read until open is called.
func (m *SavedModel) below(folder string) ([]extraFile, error) {
	var out []extraFile
	err := fs.WalkDir(m.fsys, folder, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if p == folder && errors.Is(err, fs.ErrNotExist) {
				return fs.SkipAll
			}
			return err
		}
		if !d.IsDir() {
			out = append(out, extraFile{p, func() (io.ReadCloser, error) { return m.fsys.Open(p) }})
		}
		return nil
	})
	return out, err
}

// rewriteGraphs writes the MetaGraphs as they were read. It copies the
// variables in their stored form, because no object describes them.
func (m *SavedModel) rewriteGraphs(ctx context.Context, dir vfs.Dir, name string) error {
	p := &pb.SavedModel{SavedModelSchemaVersion: 1, Unknown: m.unknown}
	for _, g := range m.MetaGraphs {
		meta, err := g.whole()
		if err != nil {
			return err
		}
		p.MetaGraphs = append(p.MetaGraphs, meta)
	}
	var files []extraFile
	for _, folder := range []string{path.Dir(VariablesPrefix), AssetsDir, extraDir, debugDir, KerasMetadataFile} {
		list, err := m.below(folder)
		if err != nil {
			return &SaveError{Err: err}
		}
		files = append(files, list...)
	}
	return replaceModel(dir, name, func(into string) error {
		if err := copyFiles(ctx, dir, into, files); err != nil {
			return err
		}
		return publishGraphs(ctx, dir, into, p, chunkLimits{file: maxGraphFile})
	})
}

// whole returns the MetaGraph's message with the parts that are read when they are
// needed.
func (g *MetaGraph) whole() (*pb.MetaGraphDef, error) {
	meta := *g.proto
	if g.graphDef.Len() > 0 {
		b, err := g.graphDef.Read()
		if err != nil {
			return nil, err
		}
		var def pb.GraphDef
		if err := g.model.checkMemory(&def, b); err != nil {
			return nil, err
		}
		if err := def.Unmarshal(b); err != nil {
			return nil, &FormatError{g.model.File, err}
		}
		lazy := pb.LazyOf(&def)
		meta.GraphDef = &lazy
	}
	if len(g.Objects) > 0 {
		b, err := g.objectDef.Read()
		if err != nil {
			return nil, err
		}
		var def pb.SavedObjectGraph
		if err := g.model.checkMemory(&def, b); err != nil {
			return nil, err
		}
		if err := def.Unmarshal(b); err != nil {
			return nil, &FormatError{g.model.File, err}
		}
		lazy := pb.LazyOf(&def)
		meta.ObjectGraphDef = &lazy
	}
	if err := g.model.held.unchanged(); err != nil {
		return nil, err
	}
	return &meta, nil
}

// copyFiles copies files to the directory into of dir. After an error some of them are there:
// replaceModel removes the directory.
func copyFiles(ctx context.Context, dir vfs.Dir, into string, files []extraFile) error {
	for _, f := range files {
		in, err := f.open()
		if err == nil {
			err = copyTo(ctx, dir, path.Join(into, f.name), in)
			in.Close()
		}
		if err != nil {
			return &SaveError{Err: err}
		}
	}
	return nil
}
