// Package convert makes files of tensors out of others: it converts between
// formats, renames, drops and casts tensors, and merges files. Besides the index,
// one large tensor or several small ones are in memory at a time. A destination's
// name exists only once the file is complete.
package convert
