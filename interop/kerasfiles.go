package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/cairnml/cairn/hdf5"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/tensor"
)

// kerasFileCases has h5py and Keras write files, writes each again, and has h5py and Keras compare
// the contents of both.
func kerasFileCases(ctx context.Context, r *run) {
	theirs, ours := r.tf("keras_files"), r.ours("keras_files")
	peer := func(verb string) (string, error) {
		cmd := exec.CommandContext(ctx, r.python, "interop/peer/kerasfiles.py", verb, theirs, ours)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("kerasfiles.py %s: %w\n%s", verb, err, stderr.Bytes())
		}
		return string(out), err
	}
	if err := errors.Join(os.MkdirAll(theirs, 0o777), os.MkdirAll(ours, 0o777)); err != nil {
		r.result("Keras files", wrongs(err), "")
		return
	}
	if _, err := peer("write"); err != nil {
		r.result("h5py and Keras write files", wrongs(err), "")
		return
	}
	list, err := os.ReadDir(theirs)
	if err != nil || len(list) == 0 {
		r.result("h5py and Keras write files", []string{fmt.Sprintf("%d files, %v", len(list), err)}, "")
		return
	}
	for _, e := range list {
		r.check("read and write again "+e.Name(), func() error {
			return rewriteKerasFile(ctx, filepath.Join(theirs, e.Name()), filepath.Join(ours, e.Name()))
		})
	}
	out, err := peer("check")
	if err != nil {
		r.result("h5py and Keras read our files", wrongs(err), "")
		return
	}
	if strings.TrimSpace(out) == "" {
		r.result("h5py and Keras read our files", []string{"they have read none"}, "")
	}
	for l := range strings.Lines(out) {
		name, wrong, _ := strings.Cut(strings.TrimSpace(l), "\t")
		var list []string
		if wrong != "" {
			list = []string{wrong}
		}
		r.result(name, list, "")
	}
}

// rewriteKerasFile reads a file and writes it again: one of Keras through kerasfile, any other one
// through hdf5.
func rewriteKerasFile(ctx context.Context, from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	f, err := kerasfile.Open(in, info.Size(), nil)
	if err == nil {
		return kerasfile.Write(ctx, out, f.Format, &f.Contents)
	}
	if !errors.Is(err, kerasfile.ErrFormat) {
		return err
	}
	h, err := hdf5.Open(in, info.Size(), nil)
	if err != nil {
		return err
	}
	var w hdf5.Writer
	if err := copyAttributes(w.Root().SetAttribute, h.Root()); err != nil {
		return err
	}
	options := []*hdf5.DatasetOptions{nil, {Gzip: 6}, {Gzip: 1, Shuffle: true}, {Fletcher32: true}, {Shuffle: true, Gzip: 9, Fletcher32: true}}
	n := 0
	err = h.Root().Walk(func(o hdf5.Object) error {
		d, ok := o.(*hdf5.Dataset)
		if !ok {
			g, err := w.Root().Group(o.Path())
			if err != nil {
				return err
			}
			return copyAttributes(g.SetAttribute, o)
		}
		v, err := d.Read(ctx)
		if err != nil {
			return err
		}
		opts := &hdf5.DatasetOptions{}
		if n++; len(d.Shape()) > 0 && options[n%len(options)] != nil {
			*opts = *options[n%len(options)]
			for i, size := range d.Shape() { // chunks that don't fit evenly
				opts.Chunks = append(opts.Chunks, max(1, size*2/3-i))
			}
		}
		opts.Text = d.Type().Text
		x, err := w.Root().Dataset(d.Path(), v, opts)
		if err != nil {
			return err
		}
		return copyAttributes(x.SetAttribute, d)
	})
	if err != nil {
		return err
	}
	return w.Write(ctx, out)
}

// copyAttributes sets each attribute of o by set, null ones included.
func copyAttributes(set func(string, *tensor.Tensor, *hdf5.ValueOptions) error, o hdf5.Object) error {
	list, err := o.Attributes()
	if err != nil {
		return err
	}
	for _, a := range list {
		var v *tensor.Tensor
		if !a.Null() {
			if v, err = a.Value(); err != nil {
				return err
			}
		}
		if err := set(a.Name(), v, &hdf5.ValueOptions{Text: a.Type().Text}); err != nil {
			return err
		}
	}
	return nil
}
