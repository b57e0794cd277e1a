package savedmodel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/collect"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/tensorproto"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// tensorFlowVersion is the release whose files a save writes.
const tensorFlowVersion = "2.21.0"

func encodeDefault(t *tensor.Tensor) (*pb.TensorProto, error) { return tensorproto.Encode(t) }

// savedAsset is a file that is copied into the model.
type savedAsset struct {
	asset  *TrackableAsset
	name   string // below the directory of assets, of one file
	again  bool   // an asset before it is the same file
	tensor string // the main graph's constant with its path
}

// asset returns the place of an asset among the model's files.
func (s *saver) asset(a *TrackableAsset, id int) (int, error) {
	for i := range s.assets {
		if s.assets[i].asset == a {
			return i, nil
		}
	}
	for _, x := range s.assets {
		if x.asset.sameFile(a) {
			s.assets = append(s.assets, savedAsset{asset: a, name: x.name, again: true})
			return len(s.assets) - 1, nil
		}
	}
	name, err := assetName(a.Name)
	if err != nil {
		return 0, err
	}
	if !fs.ValidPath(name) || name == "." {
		return 0, fmt.Errorf("the asset's name is no path below the directory of assets (got %q)", a.Name)
	}
	f, err := a.Open()
	if err != nil {
		return 0, fmt.Errorf("the asset's file: %w", err)
	}
	info, err := f.Stat()
	f.Close()
	if err != nil {
		return 0, fmt.Errorf("the asset's file: %w", err)
	}
	if info.IsDir() {
		return 0, fmt.Errorf("the asset's file %s is a directory", a)
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(s.assets, func(x savedAsset) bool { return x.name == name })
	}
	unique := name
	for i := 1; taken(unique); i++ {
		unique = name + "_" + strconv.Itoa(i)
	}
	s.assets = append(s.assets, savedAsset{asset: a, name: unique})
	return len(s.assets) - 1, nil
}

// assetOf returns the entry of an asset of the walk.
func (s *saver) assetOf(a *TrackableAsset) *savedAsset {
	i := slices.IndexFunc(s.assets, func(x savedAsset) bool { return x.asset == a })
	return &s.assets[i]
}

// encode makes the file with the graphs.
func (s *saver) encode() error {
	var nodes []*pb.SavedObject
	for id := range s.nodes {
		o, err := s.node(id)
		if err != nil {
			return s.fail(id, err)
		}
		nodes = append(nodes, o)
	}
	collect.Grown()
	if err := s.checkDependencies(nodes); err != nil {
		return err
	}
	entries, err := s.entries()
	if err != nil {
		return err
	}
	p := &pb.MetaGraphDef{MetaInfoDef: &pb.MetaInfoDef{
		Tags: s.tags(), TensorflowVersion: tensorFlowVersion, TensorflowGitVersion: "unknown",
	}}
	if err := s.aliases(p.MetaInfoDef); err != nil {
		return err
	}
	collect.Grown()
	g, err := s.buildMain(p, nodes)
	if err != nil {
		return err
	}
	f := newFinisher(s)
	def, err := graphInternals.GraphProto(g, f.function)
	if err != nil {
		return &SaveError{Err: err}
	}
	f.nodes(def.Node, nil)
	if def.Library != nil {
		sortFunctions(def.Library.Function)
	}
	p.MetaInfoDef.StrippedDefaultAttrs = true
	p.MetaInfoDef.StrippedOpList = f.usedOps()
	lazyGraph, lazyObjects := pb.LazyOf(def), pb.LazyOf(&pb.SavedObjectGraph{Nodes: nodes, ConcreteFunctions: entries})
	p.GraphDef, p.ObjectGraphDef = &lazyGraph, &lazyObjects
	s.model = &pb.SavedModel{SavedModelSchemaVersion: 1, MetaGraphs: []*pb.MetaGraphDef{p}}
	s.report(nodes)
	return nil
}

// tags returns the tags of the MetaGraph.
func (s *saver) tags() []string {
	tags := []string{ServeTag}
	for _, t := range s.opts.Tags {
		if !slices.Contains(tags, t) {
			tags = append(tags, t)
		}
	}
	return tags
}

// aliases adds the names that programs chose for functions.
func (s *saver) aliases(p *pb.MetaInfoDef) error {
	for _, alias := range sortedKeys(s.opts.Aliases) {
		f := s.opts.Aliases[alias]
		if f == nil || len(f.Traces()) == 0 {
			return &SaveError{Err: fmt.Errorf("the function of the alias %q was never traced", alias)}
		}
		for _, c := range f.Traces() {
			if s.concrete[c.Function] == nil {
				return &SaveError{Err: fmt.Errorf("no edge leads from the root to the function of the alias %q", alias)}
			}
			p.FunctionAliases = append(p.FunctionAliases, &pb.StringEntry{Key: s.lib.NameOf(c.Function), Value: alias})
		}
	}
	pb.SortEntries(p.FunctionAliases)
	return nil
}

// report logs the saved objects.
func (s *saver) report(nodes []*pb.SavedObject) {
	if s.opts.Log == nil {
		return
	}
	for id := range s.nodes {
		n := &s.nodes[id]
		line := Saved{Path: s.human(id), Kind: kindOf(n.Object)}
		switch line.Kind {
		case VariableObject:
			line.Name = n.FullName
			if t, release := n.Variable().Borrow(); t != nil {
				line.Bytes = t.NumBytes()
				release()
			}
		case ConstantObject:
			line.Bytes = sizeOf(n.Object.(*TrackableConstant).Tensor)
			line.Note = "captured by a function"
		case AssetObject:
			a := s.assetOf(n.Object.(*TrackableAsset))
			line.Name = a.name
			if f, err := a.asset.Open(); err == nil {
				if info, err := f.Stat(); err == nil {
					line.Bytes = info.Size()
				}
				f.Close()
			}
		case BareFunction, FunctionObject:
			var names []string
			for _, c := range tracesOf(n.Object) {
				names = append(names, s.lib.NameOf(c.Function))
				if def, err := graphInternals.FunctionProto(c.Function, s.lib); err == nil {
					line.Bytes += int64(len(def.Marshal()))
				}
			}
			line.Name = strings.Join(names, " ")
		}
		if id > 0 && s.nodes[id].Object == s.signatures {
			line.Note = "lists the functions of the signatures"
		}
		s.opts.Log(line)
	}
}

// tracesOf returns the traces of an object that is a function.
func tracesOf(obj any) []*graph.Concrete {
	switch f := obj.(type) {
	case *graph.Concrete:
		return []*graph.Concrete{f}
	case *TrackableBareFunction:
		return []*graph.Concrete{f.Concrete}
	case FunctionNode:
		return f.Traces()
	}
	return nil
}

// write writes the model's files into the directory called name of dir.
//
// The files of a model refer to each other by fixed names, so a model that
// exists can't be replaced file by file. The graph's file comes last, under a
// temporary name until it is whole: without it the directory is no model. If
// the directory contains a model, the files go to a new directory in the same
// parent, and then the two directories are exchanged.
func (s *saver) write(ctx context.Context, dir vfs.Dir, name string) error {
	return replaceModel(dir, name, func(into string) error { return s.writeFiles(ctx, dir, into) })
}

// replaceModel calls write with a directory and then makes it the directory
// called name of dir.
func replaceModel(dir vfs.Dir, name string, write func(into string) error) (err error) {
	name = path.Clean(name)
	if !fs.ValidPath(name) {
		return &SaveError{Err: &fs.PathError{Op: "save", Path: name, Err: fs.ErrInvalid}}
	}
	old, err := existing(dir, name)
	if err != nil {
		return err
	}
	into := name
	var swap vfs.FolderExchanger
	if old {
		var ok bool
		if swap, ok = dir.(vfs.FolderExchanger); !ok {
			return &SaveError{Err: fmt.Errorf("%s holds a SavedModel, and this kind of directory can't exchange directories; save into a new one", name)}
		}
		into = path.Join(path.Dir(name), "."+path.Base(name)+".saving")
		if name == "." {
			into = ".saving"
		}
		if err := removeAll(dir, into); err != nil {
			return &SaveError{Err: err}
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeAll(dir, into))
		}
	}()
	if err := write(into); err != nil {
		return err
	}
	if !old {
		return nil
	}
	if err := swap.ExchangeFolders(into, name); err != nil {
		return &SaveError{Err: err}
	}
	// The new model has the name now; into is the old one.
	return errors.Join(dir.Sync(), removeAll(dir, into))
}

// writeFiles writes a model into a directory that holds none.
func (s *saver) writeFiles(ctx context.Context, dir vfs.Dir, into string) error {
	ck, err := s.checkpoint()
	if err != nil {
		return err
	}
	collect.Grown()
	if err := ck.WriteTo(ctx, dir, path.Join(into, VariablesPrefix)); err != nil {
		return err
	}
	collect.Grown()
	for _, a := range s.assets {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if a.again {
			continue
		}
		if err := copyAsset(ctx, dir, path.Join(into, AssetsDir, a.name), a.asset); err != nil {
			return &SaveError{Err: fmt.Errorf("asset %s: %w", a.name, err)}
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := s.addFiles(); err != nil {
		return err
	}
	if err := copyFiles(ctx, dir, into, s.more); err != nil {
		return err
	}
	limits := chunkLimits{file: maxGraphFile}
	if s.opts.chunks != nil {
		limits = *s.opts.chunks
	}
	return publishGraphs(ctx, dir, into, s.model, limits)
}

// addFiles adds the files that the options ask for.
func (s *saver) addFiles() error {
	if s.opts.Files == nil {
		return nil
	}
	files, err := s.opts.Files(s.savedNodes())
	if err != nil {
		return &SaveError{Err: err}
	}
	for _, name := range sortedKeys(files) {
		first, _, _ := strings.Cut(name, "/")
		if !fs.ValidPath(name) || slices.Contains([]string{".", GraphFile, ChunkedGraphFile, "variables", AssetsDir, FingerprintFile}, first) {
			return &SaveError{Err: fmt.Errorf("the file %q of SaveOptions.Files is no path for a separate file below the model", name)}
		}
		s.more = append(s.more, extraFile{name, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files[name])), nil }})
	}
	return nil
}

// publishGraphs writes the graph's file, which makes the directory a model.
func publishGraphs(ctx context.Context, dir vfs.Dir, into string, m *pb.SavedModel, limits chunkLimits) error {
	file, err := writeGraphs(dir, into, m, limits)
	if err != nil {
		return &SaveError{Err: err}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := dir.Sync(); err != nil {
		return &SaveError{Err: err}
	}
	final := path.Join(into, file)
	if err := dir.Rename(final+".tmp", final); err != nil {
		return &SaveError{Err: err}
	}
	if err := dir.Sync(); err != nil {
		return &SaveError{Err: err}
	}
	return nil
}

// modelFiles are the names of files and directories of a model; a save refuses a directory
// that holds others. It also refuses assets.extra, which would be lost.
var modelFiles = []string{GraphFile, GraphFile + ".tmp", ChunkedGraphFile, ChunkedGraphFile + ".tmp", TextGraphFile, FingerprintFile, "variables", AssetsDir, "debug", "keras_metadata.pb", "assets.extra"}

// existing reports whether a directory contains files that a save has to
// replace: a model, or the rest of a failed save. Other files are an error.
func existing(dir vfs.Dir, name string) (bool, error) {
	entries, err := fs.ReadDir(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, &SaveError{Err: err}
	}
	for _, e := range entries {
		if e.Name() == "assets.extra" {
			return false, &SaveError{Err: fmt.Errorf("the directory %s holds %q, which a save would lose; move it away or save into another directory", name, e.Name())}
		}
		if !slices.Contains(modelFiles, e.Name()) {
			return false, &SaveError{Err: fmt.Errorf("the directory %s holds %q, which belongs to no SavedModel; remove it or save into another directory", name, e.Name())}
		}
	}
	return len(entries) > 0, nil
}

// copyAsset copies a file into the model.
func copyAsset(ctx context.Context, dir vfs.Dir, name string, a *TrackableAsset) error {
	in, err := a.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	return copyTo(ctx, dir, name, in)
}

// copyTo writes the contents of a reader to a file and makes it durable.
func copyTo(ctx context.Context, dir vfs.Dir, name string, in io.Reader) error {
	out, err := dir.Create(name)
	if err != nil {
		return err
	}
	buf := make([]byte, 1<<18)
	_, err = io.CopyBuffer(struct{ io.Writer }{out}, contextReader{ctx, in}, buf)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// contextReader ends with the context.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

// writeFile writes a whole file and makes it durable.
func writeFile(dir vfs.Dir, name string, b []byte) error {
	f, err := dir.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// removeAll deletes a directory and all that it holds. A missing one is no error.
func removeAll(dir vfs.Dir, name string) error {
	entries, err := fs.ReadDir(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		below := path.Join(name, e.Name())
		if e.IsDir() {
			err = removeAll(dir, below)
		} else {
			err = dir.Remove(below)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
