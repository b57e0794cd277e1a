package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/applications"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/models"
	"github.com/cairnml/cairn/keras/saving"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// kerasFiles are the rows about whole models in files of Keras: an MLP of 100 MiB, and an application.
// peer/tf_keras_files.py has the same verbs.
var kerasFiles = []step{
	{words: "load a .keras file of 100 MiB", verb: "model.keras", count: 1},
	{words: "load a .h5 file of 100 MiB", verb: "model.h5", count: 1},
	{words: "save ResNet50 again that was loaded from a SavedModel", verb: application, count: 1},
}

// application is the directory of a SavedModel of ResNet50.
const application = "resnet50"

// keras measures the loading and saving of models, against tf_keras and the reading and writing of the bytes.
func (b *bench) keras(ctx context.Context) error {
	if !slices.ContainsFunc(kerasFiles, b.wanted) {
		return nil
	}
	folder := filepath.Join(b.dir, "keras")
	if err := writeKerasFiles(ctx, folder); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	peers := map[string]*process{}
	for name, argv := range map[string][]string{
		cairn:      {self, "-peer", "keras", folder},
		raw:        {self, "-peer", "bytes", folder},
		tensorflow: {b.python, filepath.Join("bench", "peer", "tf_keras_files.py"), folder},
	} {
		if peers[name], err = b.startPeer(ctx, argv...); err != nil {
			return err
		}
	}
	for group := range groups(kerasFiles) {
		if err := b.together(group, peers); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(kerasFiles, func(st step) bool { return st.verb == application && b.wanted(st) }) {
		return nil
	}
	// In a new process, because memory of other works would be used again.
	p, err := b.startPeer(ctx, self, "-peer", "keras", folder)
	if err != nil {
		return err
	}
	if _, err := p.ask(application); err != nil {
		return err
	}
	extra, err := p.ask("memory")
	if err != nil {
		return err
	}
	b.notes = append(b.notes, fmt.Sprintf("%.0f MiB to load and save ResNet50 again, the process included", extra))
	return nil
}

// aboveWeights returns by how many MiB the peak of the process's memory exceeds the size of
// a SavedModel's weights.
func aboveWeights(dir string) (float64, error) {
	weights, err := os.Stat(filepath.Join(dir, "variables", "variables.data-00000-of-00001"))
	if err != nil {
		return 0, err
	}
	peak, err := residentPeak()
	return float64(peak-weights.Size()) / (1 << 20), err
}

// writeKerasFiles writes the files that all contenders read.
func writeKerasFiles(ctx context.Context, folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	list := make([]keras.Callable, 4)
	for i := range list {
		list[i] = &layers.Dense{Units: 2560}
	}
	m := keras.NewSequential(list...)
	if err := keras.Build(function.Eager(ctx), m, tensor.Shape{-1, 2560}); err != nil {
		return err
	}
	network, err := applications.ResNet50(ctx, nil)
	if err != nil {
		return err
	}
	if err := models.Save(ctx, network, filepath.Join(folder, application), nil); err != nil {
		return err
	}
	for _, f := range kerasFiles {
		if f.verb == application {
			continue
		}
		if err := saving.SaveModel(ctx, m, filepath.Join(folder, f.verb), nil); err != nil {
			return err
		}
	}
	return nil
}

// kerasFileVerbs returns verbs that load the models, or that read the bytes of their files.
func kerasFileVerbs(folder string, bytes bool) map[string]verb {
	verbs := map[string]verb{}
	for _, f := range kerasFiles {
		path := filepath.Join(folder, f.verb)
		if f.verb == application {
			verbs[f.verb] = saveAgain(path, bytes)
			continue
		}
		verbs[f.verb] = func(ctx context.Context) error {
			if bytes {
				b, err := os.ReadFile(path)
				if err == nil && len(b) < 100<<20 {
					err = fmt.Errorf("the file has %d bytes", len(b))
				}
				return err
			}
			m, err := saving.LoadModel(ctx, path, nil)
			if err == nil && len(keras.Variables(m.Model.(*keras.Sequential))) != 8 {
				err = fmt.Errorf("the model is not whole")
			}
			return err
		}
	}
	return verbs
}

// saveAgain returns the verb that saves a SavedModel again, which its first call loads, or
// that writes as many bytes to one file and syncs it.
func saveAgain(path string, bytes bool) verb {
	var content []byte
	var loaded *savedmodel.Restored
	return func(ctx context.Context) error {
		switch {
		case bytes && content == nil:
			err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				b, err := os.ReadFile(name)
				content = append(content, b...)
				return err
			})
			if err != nil {
				return err
			}
		case !bytes && loaded == nil:
			var err error
			if loaded, err = savedmodel.Restore(ctx, os.DirFS(path), nil); err != nil {
				return err
			}
		}
		if !bytes {
			return savedmodel.Save(ctx, loaded.Root, path+".again", nil)
		}
		f, err := os.Create(path + ".bytes")
		if err != nil {
			return err
		}
		_, err = f.Write(content)
		return errors.Join(err, f.Sync(), f.Close())
	}
}
