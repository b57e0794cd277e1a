// Package cairn is the front door to TensorFlow's checkpoints and SavedModels in
// pure Go: no Python, no cgo, no libtensorflow, and the same bytes as TensorFlow
// 2.21 in both directions.
//
// # Where to start
//
// To look into files (checkpoints of version 1 and 2, the variables of a
// SavedModel, .npz, .safetensors), use this package: [List], [Read], [Stat], [Show],
// [Diff], [Verify] and [Scan] do the work of the command's verbs ls, cat, stat, show,
// diff, verify and scan; [Convert], [Edit], [Merge] and [Recover] write. Their options,
// results and errors are those of packages tensorfile, inspect, convert and
// savedmodel/scan, which do more than these functions. The options accept a file
// system to read from, an [io/fs.FS], and a directory to write to, a [vfs.Dir].
//
// To save and restore a Go program's own objects, use package checkpoint:
//
//	type Training struct {
//		Step    *trackable.Scalar[int64]
//		Weights *trackable.Variable
//	}
//
//	t := &Training{trackable.NewScalar[int64](0), trackable.NewVariable(w)}
//	ckpt, err := checkpoint.New(t, nil)
//	manager, err := checkpoint.NewManager(ckpt, dir, &checkpoint.ManagerOptions{MaxToKeep: 3})
//	report, err := manager.RestoreOrInitialize(ctx) // strict: nothing half restored
//	path, err := manager.Save(ctx)            // crash-safe
//
// To run a model that was trained elsewhere, [Load] its SavedModel from a
// directory, an embed.FS or memory, and [Bind] a signature to a Go function:
//
//	model, err := cairn.Load(ctx, os.DirFS("model"), nil)
//	classify, err := cairn.Bind[Image, Result](model, "serving_default")
//	got, err := classify(ctx, Image{img})
//
// To train in Go, use packages keras (layers, losses, optimizers), ops (the ops
// themselves), grad (the tape), function (Func, which calls Go functions) and dataset;
// examples/guide is the program of TensorFlow's checkpoint guide.
//
// To read or write single tensors of TensorFlow's format, use package bundle;
// its page describes the files byte by byte. Package tensor holds the data.
//
// A program that imports only tensor, bundle, trackable and checkpoint links no
// kernels.
//
// The functions here only call those packages: a change of behaviour belongs there.
package cairn
