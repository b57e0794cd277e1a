// Package tensorfile opens files and directories of named tensors, whatever their
// format: TensorFlow checkpoints, a SavedModel's variables, numpy's .npz,
// safetensors, HDF5, Keras' archives and the constants of GraphDefs. The names in an
// HDF5 file are the paths of its datasets. A [File] lists, finds and reads tensors in
// the same way for each.
//
// A checkpoint in a safetensors file is stored under its own names. The format has
// no strings, and with them no object graph, no narrow integers and no order of
// writing; the file's metadata contains them under "cairn.checkpoint", see
// [Layout]. Opened here, such a file shows the checkpoint's tensors.
package tensorfile
