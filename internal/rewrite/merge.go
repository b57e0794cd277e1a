package rewrite

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/safetensors"
	"github.com/cairnml/cairn/internal/store"
	"github.com/cairnml/cairn/tensor"
)

// Merge makes one file of several. Checkpoints become the shards of one
// checkpoint, their bytes as they are, as TensorFlow merges the parts that
// several workers wrote; slices of one tensor may come from several of them.
// Where another kind is among the sources or asked for, tensors are written one
// by one, and a name that two sources have is an error. The sources stay.
func Merge(ctx context.Context, srcs []string, dst string, o *Options) (*Result, error) {
	if o == nil {
		o = &Options{}
	}
	stores := make([]*store.Store, len(srcs))
	bundles := store.KindOf(dst) == store.Checkpoint
	for i, src := range srcs {
		s, err := store.Open(ctx, src)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		if err := sameFile(s, dst); err != nil {
			return nil, err
		}
		stores[i] = s
		bundles = bundles && s.Bundle() != nil && s.Bundle().Version() == 2
	}
	if bundles {
		return mergeBundles(ctx, stores, dst, o)
	}
	return mergeTensors(ctx, stores, dst, o)
}

func mergeBundles(ctx context.Context, stores []*store.Store, dst string, o *Options) (*Result, error) {
	_, _, err := checkpointDir(dst, o.Force)
	if err != nil {
		return nil, err
	}
	// All names must lie in one folder's tree: the root that all paths share.
	paths := make([]string, 0, len(stores)+1)
	for _, p := range append(prefixes(stores), dst) {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, err
		}
		paths = append(paths, abs)
	}
	root := filepath.Dir(paths[0])
	for _, p := range paths {
		for !below(root, p) && filepath.Dir(root) != root {
			root = filepath.Dir(root)
		}
	}
	for i, p := range paths {
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return nil, err
		}
		paths[i] = filepath.ToSlash(rel)
	}
	n := len(paths) - 1
	dir := &countingDir{Dir: bundle.OSDir(root), progress: o.Progress}
	for _, s := range stores {
		for _, e := range s.Entries() {
			dir.total += e.Bytes
		}
	}
	if err := bundle.Merge(ctx, dir, paths[n], paths[:n], &bundle.MergeOptions{KeepSources: true}); err != nil {
		return nil, err
	}
	merged, err := store.Open(ctx, dst)
	if err != nil {
		return nil, err
	}
	defer merged.Close()
	res := &Result{Files: []string{dst + ".index"}}
	for i := range merged.Bundle().Header().NumShards {
		res.Files = append(res.Files, bundle.DataName(dst, i, merged.Bundle().Header().NumShards))
	}
	for _, e := range merged.Entries() {
		res.Tensors++
		res.Bytes += e.Bytes
	}
	removeStale(dst, res.Files)
	return res, nil
}

// countingDir tells how much was written through it, for a progress bar.
type countingDir struct {
	bundle.Dir
	progress    func(done, total int64)
	done, total int64
}

// Create starts a file whose writes are counted.
func (d *countingDir) Create(name string) (bundle.File, error) {
	f, err := d.Dir.Create(name)
	if err != nil || d.progress == nil {
		return f, err
	}
	return &countingFile{f, d}, nil
}

type countingFile struct {
	bundle.File
	d *countingDir
}

func (f *countingFile) count(n int) {
	f.d.done += int64(n)
	f.d.progress(min(f.d.done, f.d.total), f.d.total)
}

func (f *countingFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.count(n)
	return n, err
}

func (f *countingFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	f.count(n)
	return n, err
}

func prefixes(stores []*store.Store) []string {
	var out []string
	for _, s := range stores {
		out = append(out, s.Prefix)
	}
	return out
}

// below reports whether path lies in folder root or deeper.
func below(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// mergeTensors writes the tensors of all stores, one by one.
func mergeTensors(ctx context.Context, stores []*store.Store, dst string, o *Options) (*Result, error) {
	owner := map[string]*store.Store{}
	var list []item
	res := &Result{}
	for _, s := range stores {
		all, err := items(s)
		if err != nil {
			return nil, err
		}
		for _, i := range all {
			if other, dup := owner[i.name]; dup {
				return nil, fmt.Errorf("%s and %s both have a tensor called %q", other.Prefix, s.Prefix, i.name)
			}
			owner[i.name] = s
			list = append(list, i)
		}
	}
	var total int64
	for _, i := range list {
		total += i.bytes
	}
	var scratch store.Scratch
	read := func(ctx context.Context, i item) (*tensor.Tensor, error) {
		t, err := i.read(ctx, owner[i.name], &scratch)
		if err == nil {
			res.Tensors++
			res.Bytes += i.bytes
			if o.Progress != nil {
				o.Progress(res.Bytes, total)
			}
		}
		return t, err
	}
	switch store.KindOf(dst) {
	case store.NPZ:
		return res, mergeNPZ(ctx, list, dst, o, res, read)
	case store.Safetensors:
		return res, mergeSafetensors(ctx, list, dst, o, res, read)
	}
	dir, base, err := checkpointDir(dst, o.Force)
	if err != nil {
		return nil, err
	}
	w, err := bundle.NewWriter(dir, base, nil)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	for _, i := range list {
		t, err := read(ctx, i)
		if err != nil {
			return nil, err
		}
		if err := w.Add(ctx, i.name, t); err != nil {
			return nil, err
		}
	}
	if err := w.Finish(ctx); err != nil {
		return nil, err
	}
	for _, f := range w.Files() {
		res.Files = append(res.Files, filepath.Join(filepath.Dir(dst), filepath.FromSlash(f)))
	}
	removeStale(dst, res.Files)
	return res, nil
}

type reader func(ctx context.Context, i item) (*tensor.Tensor, error)

func mergeNPZ(ctx context.Context, list []item, dst string, o *Options, res *Result, read reader) error {
	f, err := store.CreateFile(dst, o.Force)
	if err != nil {
		return err
	}
	defer f.Abort()
	z := tensor.NewNPZWriter(f, &tensor.NPYOptions{Lossy: o.Lossy})
	for _, i := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		t, err := read(ctx, i)
		if err != nil {
			return err
		}
		if err := z.Add(i.name, t); err != nil {
			return fmt.Errorf("%s: %w%s", dst, err, lossyHint(i, o))
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	res.Files = []string{dst}
	return f.Commit()
}

func mergeSafetensors(ctx context.Context, list []item, dst string, o *Options, res *Result, read reader) error {
	var infos []safetensors.Info
	byName := map[string]item{}
	for _, i := range list {
		if as, ok := store.Carrier(i.dtype); !ok || as != i.dtype {
			return fmt.Errorf("%s: %q is %v, which a safetensors file of several sources can't hold; merge into a checkpoint", dst, i.name, i.dtype)
		}
		byName[i.name] = i
		infos = append(infos, safetensors.Info{Name: i.name, DType: i.dtype, Shape: i.shape})
	}
	f, err := store.CreateFile(dst, o.Force)
	if err != nil {
		return err
	}
	defer f.Abort()
	err = safetensors.Write(ctx, f, infos, nil, func(ctx context.Context, name string) (*tensor.Tensor, error) {
		return read(ctx, byName[name])
	})
	if err != nil {
		return err
	}
	res.Files = []string{dst}
	return f.Commit()
}
