package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/numpyrand"
	"github.com/cairnml/cairn/tensor"
)

// The endings of files that tf_keras takes, in lower case.
var (
	ImageFormats = []string{".bmp", ".gif", ".jpeg", ".jpg", ".png"}
	TextFormats  = []string{".txt"}
)

// DirectoryOptions are the options of [ListDirectory].
type DirectoryOptions struct {
	// Formats are the endings of the files to list, in lower case. Default: ImageFormats.
	Formats []string
	// Labels are the labels of all files in the order of their paths. Default: the directories
	// in the directory are the classes.
	Labels []int
	// NoLabels lists files of any directory, without labels.
	NoLabels bool
	// ClassNames sets the order of the classes. They must be the names of all
	// directories. Default: alphabetical.
	ClassNames []string
	// Shuffle puts the files in random order, in that of tf_keras for the seed. Default: by
	// class and path.
	Shuffle bool
	// Seed is the seed of the order, at most 2³²-1.
	Seed uint64
	// FollowLinks lists the files of directories that links lead to. Default: they are passed
	// over, but for the directories of classes.
	FollowLinks bool
}

// Directory is a list of files with their labels.
type Directory struct {
	// Files are the paths.
	Files []string
	// Labels has the class of each file, nil without labels.
	Labels []int
	// ClassNames are the names of the classes, nil without inferred labels.
	ClassNames []string
	// Classes is the number of classes.
	Classes int
}

// ListDirectory lists the files of a directory and their labels, as
// tf.keras.utils.image_dataset_from_directory and text_dataset_from_directory do:
//
//	dir, err := dataset.ListDirectory("flowers", &dataset.DirectoryOptions{Shuffle: true, Seed: 1})
//	train, validation, err := dir.Split(0.2)
//	images := train.LabeledImages(nil, nil).Shuffle(256, nil).Batch(32, nil)
func ListDirectory(path string, o *DirectoryOptions) (*Directory, error) {
	if o == nil {
		o = &DirectoryOptions{}
	}
	d, err := listDirectory(path, o)
	if err != nil {
		return nil, fmt.Errorf("dataset: ListDirectory %s: %w", path, err)
	}
	return d, nil
}

func listDirectory(path string, o *DirectoryOptions) (*Directory, error) {
	formats := o.Formats
	if formats == nil {
		formats = ImageFormats
	}
	inferred := o.Labels == nil && !o.NoLabels
	switch {
	case o.Labels != nil && o.NoLabels:
		return nil, errors.New("both Labels and NoLabels are set")
	case !inferred && o.ClassNames != nil:
		return nil, errors.New("ClassNames are for labels made of the directories")
	}
	d := &Directory{}
	folders := []string{""}
	if inferred {
		var err error
		if folders, err = classDirectories(path); err != nil {
			return nil, err
		}
		if d.ClassNames = folders; o.ClassNames != nil {
			if a, b := slices.Sorted(slices.Values(o.ClassNames)), folders; !slices.Equal(a, b) {
				return nil, fmt.Errorf("the class names aren't those of the directories (got %q, want %q)", o.ClassNames, folders)
			}
			d.ClassNames = slices.Clone(o.ClassNames)
		}
		d.Classes = len(d.ClassNames)
	}
	for _, folder := range folders {
		files, err := filesBelow(filepath.Join(path, folder), formats, o.FollowLinks)
		if err != nil {
			return nil, err
		}
		d.Files = append(d.Files, files...)
		for range files {
			if inferred {
				d.Labels = append(d.Labels, slices.Index(d.ClassNames, folder))
			}
		}
	}
	if o.Labels != nil {
		if len(o.Labels) != len(d.Files) {
			return nil, fmt.Errorf("there are %d labels for %d files", len(o.Labels), len(d.Files))
		}
		d.Labels = slices.Clone(o.Labels)
		classes := map[int]bool{}
		for _, l := range o.Labels {
			classes[l] = true
		}
		d.Classes = len(classes)
	}
	if len(d.Files) == 0 {
		return nil, fmt.Errorf("there are no files that end with one of %q", formats)
	}
	if !o.Shuffle {
		return d, nil
	}
	// tf_keras shuffles files and labels separately, each from a new state of the same seed.
	for _, shuffle := range []func(s *numpyrand.State){
		func(s *numpyrand.State) { numpyrand.Shuffle(s, d.Files) },
		func(s *numpyrand.State) { numpyrand.Shuffle(s, d.Labels) },
	} {
		s, err := numpyrand.New(o.Seed)
		if err != nil {
			return nil, err
		}
		shuffle(s)
	}
	return d, nil
}

// classDirectories returns the sorted names of the directories in a directory. Names that
// begin with a dot are left out.
func classDirectories(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(path, e.Name())); err == nil && info.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			folders = append(folders, e.Name())
		}
	}
	if len(folders) == 0 {
		return nil, errors.New("there are no directories that would be classes")
	}
	return folders, nil
}

// filesBelow returns the paths of the files below a directory that end with one of formats:
// directories in the order of their paths, files by name. The order is that of tf_keras's index_directory and must stay,
// because Labels and the seeded order count in it. Links that lead nowhere or, by default, to directories are skipped
// without an error, as there.
func filesBelow(root string, formats []string, followLinks bool) ([]string, error) {
	names := map[string][]string{} // by directory
	var seen []os.FileInfo         // the directories that lead to the present one
	var walk func(folder string) error
	walk = func(folder string) error {
		info, err := os.Stat(folder)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(seen, func(other os.FileInfo) bool { return os.SameFile(other, info) }) {
			return nil // a link to a directory above
		}
		seen = append(seen, info)
		defer func() { seen = seen[:len(seen)-1] }()
		entries, err := os.ReadDir(folder)
		if err != nil {
			return err
		}
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			isDir := e.IsDir()
			if e.Type()&fs.ModeSymlink != 0 {
				target, err := os.Stat(path)
				if err != nil {
					continue // it leads nowhere
				}
				if isDir = target.IsDir(); isDir && !followLinks {
					continue
				}
			}
			if isDir {
				if err := walk(path); err != nil {
					return err
				}
				continue
			}
			lower := strings.ToLower(e.Name())
			if slices.ContainsFunc(formats, func(f string) bool { return strings.HasSuffix(lower, f) }) {
				names[folder] = append(names[folder], path)
			}
		}
		return nil
	}
	if err := walk(root); err != nil {
		return nil, err
	}
	var files []string
	for _, folder := range slices.SortedFunc(maps.Keys(names), cmp.Compare[string]) {
		files = append(files, names[folder]...)
	}
	return files, nil
}

// Split divides the list: validation has its last files, a fraction of all, and train the
// others, as tf_keras's validation_split does.
func (d *Directory) Split(fraction float64) (train, validation *Directory, err error) {
	if !(fraction > 0 && fraction < 1) {
		return nil, nil, fmt.Errorf("dataset: Split: the fraction is %v, want more than 0 and less than 1", fraction)
	}
	n := len(d.Files) - int(fraction*float64(len(d.Files)))
	if n == len(d.Files) || n == 0 {
		return nil, nil, fmt.Errorf("dataset: Split: a fraction of %v of %d files leaves none for one of the parts", fraction, len(d.Files))
	}
	part := func(lo, hi int) *Directory {
		p := &Directory{Files: d.Files[lo:hi:hi], ClassNames: d.ClassNames, Classes: d.Classes}
		if d.Labels != nil {
			p.Labels = d.Labels[lo:hi:hi]
		}
		return p
	}
	return part(0, n), part(n, len(d.Files)), nil
}

// LabelMode is the encoding of labels.
type LabelMode string

// The encodings of labels.
const (
	LabelInt         LabelMode = "int"         // an int32 scalar; the zero value means this too
	LabelBinary      LabelMode = "binary"      // a float32 vector of one element, 0 or 1
	LabelCategorical LabelMode = "categorical" // a float32 vector with a 1 at the label's place
)

// targets returns the encoded labels, a row of each.
func (d *Directory) targets(mode LabelMode) (*tensor.Tensor, error) {
	if d.Labels == nil {
		return nil, errors.New("the files have no labels")
	}
	labels := make([]int32, len(d.Labels))
	for i, l := range d.Labels {
		if labels[i] = int32(l); int(labels[i]) != l {
			return nil, fmt.Errorf("the label %d is out of range", l)
		}
	}
	whole, err := tensor.New(labels, len(labels))
	if err != nil {
		return nil, err
	}
	switch mode {
	case LabelInt, "":
		return whole, nil
	case LabelBinary:
		if d.Classes != 2 {
			return nil, fmt.Errorf("there are %d classes, and binary labels are of 2", d.Classes)
		}
		column, err := tensor.Cast(whole, tensor.Float32)
		if err != nil {
			return nil, err
		}
		return tensor.FromBytes(tensor.Float32, column.Bytes(), len(labels), 1)
	case LabelCategorical:
		// As tf.one_hot, a label that is out of range has no 1.
		out, err := tensor.Zeros(tensor.Float32, len(labels), d.Classes)
		if err != nil {
			return nil, err
		}
		for i, l := range d.Labels {
			if l >= 0 && l < d.Classes {
				tensor.Values[float32](out)[i*d.Classes+l] = 1
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("unknown label mode %q", mode)
}
