// Package lookup has the tables of TensorFlow's tf.lookup: maps from keys to values that
// functions look up, and that checkpoints and SavedModels save.
//
//	table, err := lookup.NewStaticHashTable(
//		lookup.KeyValueTensorInitializer{Keys: []string{"cat", "dog"}, Values: []int64{0, 1}}, int64(-1), nil)
//	m.Animals = table
//	ids := table.Lookup(s, words)
//
// A table is a node of the object graph. Functions capture it by its handle, so the root
// of a SavedModel must reach it by a field.
//
//	StaticHashTable        its initializer fills it once
//	StaticVocabularyTable  ids of a vocabulary; other words share ids after those
//	MutableHashTable       Insert and Remove change it; a checkpoint saves its contents
//	DenseHashTable         as MutableHashTable, with two reserved keys
package lookup
