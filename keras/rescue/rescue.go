// Package rescue moves whole Keras models between the files of Keras 2 (tf_keras) and Keras 3.
//
// Keras 3 opens none of Keras 2's SavedModels, and few of its .keras and .h5 files: the classes and options
// in their configs have other names, or are gone. [Convert] makes the model in Go and writes it in the other
// version's form: with its weights, its vocabularies, and the compilation and the optimizer's state if the
// other version has them.
//
//	res, err := rescue.Convert(ctx, "saved_model", "new.keras", nil)   // for keras.models.load_model
//	res, err := rescue.Convert(ctx, "new.keras", "saved_model/", nil)  // for tf_keras and TensorFlow Serving
//
// The outputs of the new file are those of the old one. A layer, or an option that changes outputs, for
// which the other version has nothing is an error. Settings that change no output are left out with a note.
package rescue

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/keras/models"
	"github.com/cairnml/cairn/keras/saving"
	"github.com/cairnml/cairn/keras/training"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensorfile"
)

// Options are the options of [Convert].
type Options struct {
	// Force replaces the file or the SavedModel at the destination. Default: an error if
	// there is one.
	Force bool
	// Classes are the known classes; a program joins its own. Default: keras.Classes().
	Classes *config.Classes
	// MaxMemory raises the limit of memory for reading the source. Default: a limit by
	// the size of the source.
	MaxMemory int64
}

// Result lists the files that were written, and the notes on the conversion.
type Result struct {
	// Files are the paths of the files.
	Files []string
	// Weights is the number of the model's variables, and Bytes their size.
	Weights int
	Bytes   int64
	// Notes list the parts that could not be carried over, and the changes that affect no
	// output.
	Notes []string
}

// Open returns the version of Keras that wrote the whole model at a path, 2 or 3; 0 if
// there is none: another file, weights alone, or a SavedModel without Keras's metadata.
func Open(ctx context.Context, path string) int {
	if info, err := os.Stat(path); err != nil {
		return 0
	} else if info.IsDir() {
		sm, err := savedmodel.Read(ctx, os.DirFS(path), nil)
		if err != nil || len(sm.MetaGraphs) != 1 {
			return 0
		}
		objects, err := sm.MetaGraphs[0].Keras()
		for _, o := range objects {
			if err == nil && o.Object.ID == 0 {
				return 2
			}
		}
		return 0
	}
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0
	}
	f, err := kerasfile.Open(file, info.Size(), nil)
	if err != nil || len(f.Config) == 0 {
		return 0
	}
	return saving.Version(f)
}

// Convert reads the whole model at src, a SavedModel's directory, a .keras or a .h5 file of
// Keras 2 or 3, and writes it to dst: a name that ends in .keras becomes an archive of Keras
// 3, any other one the directory of a SavedModel of Keras 2.
func Convert(ctx context.Context, src, dst string, opts *Options) (*Result, error) {
	if opts == nil {
		opts = &Options{}
	}
	c := converter{opts: opts, res: &Result{}, classes: opts.Classes}
	if c.classes == nil {
		c.classes = keras.Classes()
	}
	if a, err := os.Stat(src); err == nil {
		if b, err := os.Stat(dst); err == nil && os.SameFile(a, b) {
			return nil, &tensorfile.OverwriteError{Path: dst, Source: src}
		}
	}
	if err := c.read(ctx, src); err != nil {
		return nil, fmt.Errorf("rescue: %s: %w", src, err)
	}
	for _, v := range keras.Variables(c.model) {
		c.res.Weights++
		c.res.Bytes += int64(len(v.Load().Bytes()))
	}
	var err error
	if strings.HasSuffix(dst, ".keras") {
		err = c.archive(ctx, dst)
	} else {
		err = c.savedModel(ctx, filepath.Clean(dst))
	}
	if err != nil {
		return nil, fmt.Errorf("rescue: %s: %w", src, err)
	}
	return c.res, nil
}

// converter converts one model.
type converter struct {
	opts    *Options
	classes *config.Classes
	res     *Result

	model    models.Model
	trainer  *keras.Trainer
	training []byte
}

func (c *converter) note(format string, args ...any) {
	c.res.Notes = append(c.res.Notes, fmt.Sprintf(format, args...))
}

// read makes the model of the source. If the optimizer is the reason that it fails, the model is
// read again without it, with a note. If that fails too, the first error is returned.
func (c *converter) read(ctx context.Context, src string) error {
	info, err := os.Stat(src)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return c.readSavedModel(ctx, src)
	}
	m, err := saving.LoadModel(ctx, src, &saving.ModelOptions{Classes: c.classes, Read: &kerasfile.Options{MaxMemory: c.opts.MaxMemory}})
	if err != nil {
		without, err2 := saving.LoadModel(ctx, src, &saving.ModelOptions{Classes: c.classes, OmitOptimizer: true, Read: &kerasfile.Options{MaxMemory: c.opts.MaxMemory}})
		if err2 != nil {
			return err
		}
		c.note("left out the compilation and the optimizer's state: %v", err)
		m = without
		m.Training = nil
	}
	model, ok := m.Model.(models.Model)
	if !ok {
		return fmt.Errorf("the root is a %T, want a model", m.Model)
	}
	c.model = model
	if m.Training == nil {
		return nil
	}
	o, err := training.DecodeCompile(c.classes, m.Training)
	if err == nil {
		if m.Optimizer != nil {
			o.Optimizer = m.Optimizer
		}
		c.trainer, err = keras.Compile(model, o)
	}
	if err != nil {
		c.note("left out the compilation: %v", err)
		return nil
	}
	c.training = m.Training
	return nil
}

func (c *converter) readSavedModel(ctx context.Context, src string) error {
	m, err := models.Load(ctx, os.DirFS(src), &models.LoadOptions{Classes: c.classes, Read: &savedmodel.ReadOptions{MaxMemory: c.opts.MaxMemory}})
	if err != nil {
		return err
	}
	var unknown []string
	for _, o := range m.Objects {
		if o.Generic {
			unknown = append(unknown, fmt.Sprintf("%s %q", o.Class, o.Name))
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf("classes of the program's own have no config that another version could read: %s; a Go program that has the classes can convert the model", strings.Join(unknown, ", "))
	}
	c.model, c.trainer, c.training = m.Model, m.Trainer, m.Training
	if m.CompileError != nil {
		c.note("left out the compilation and the optimizer's state: %v", m.CompileError)
		c.trainer, c.training = nil, nil
	}
	return nil
}

// archive writes the archive of Keras 3.
func (c *converter) archive(ctx context.Context, dst string) error {
	o := &saving.SaveModelOptions{Keras: 3, Classes: c.classes, Note: func(s string) { c.note("%s", s) }}
	if c.trainer != nil {
		o.Optimizer, o.Training = c.trainer.Optimizer(), c.training
	}
	f, err := tensorfile.CreateFile(dst, c.opts.Force)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := saving.WriteModel(ctx, f, c.model, kerasfile.Archive, o); err != nil {
		return err
	}
	c.res.Files = []string{dst}
	return f.Commit()
}

// savedModel writes the SavedModel of Keras 2. A compilation that it can't hold is left out with a
// note.
func (c *converter) savedModel(ctx context.Context, dst string) error {
	if list, err := os.ReadDir(dst); err == nil && len(list) > 0 && !c.opts.Force {
		return fmt.Errorf("%s: the directory holds files: %w", dst, fs.ErrExist)
	}
	err := models.Save(ctx, c.model, dst, &models.SaveOptions{Classes: c.classes, Trainer: c.trainer})
	if err != nil && c.trainer != nil {
		without := models.Save(ctx, c.model, dst, &models.SaveOptions{Classes: c.classes})
		if without != nil {
			return err
		}
		c.note("left out the compilation and the optimizer's state: %v", err)
		err = nil
	}
	if err != nil {
		return err
	}
	return filepath.WalkDir(dst, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			c.res.Files = append(c.res.Files, p)
		}
		return err
	})
}
