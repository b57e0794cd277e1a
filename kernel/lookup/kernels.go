// Package lookup implements the kernels of lookup tables: maps from strings or numbers
// to values, made by their initializer, by import from a checkpoint or by
// insertion.
package lookup

import "github.com/cairnml/cairn/engine"

// Kernels returns the family's table. The Boolean argument of named makes handles references, as
// TensorFlow 1 has them.
func Kernels() []engine.Kernel {
	return []engine.Kernel{
		{Op: "HashTableV2", Prepare: named(static, false)},
		{Op: "HashTable", Prepare: named(static, true)},
		{Op: "AnonymousHashTable", Prepare: anonymous(static)},
		{Op: "MutableHashTableV2", Prepare: named(mutable, false)},
		{Op: "MutableHashTable", Prepare: named(mutable, true)},
		{Op: "AnonymousMutableHashTable", Prepare: anonymous(mutable)},
		{Op: "MutableHashTableOfTensorsV2", Prepare: named(mutable, false)},
		{Op: "MutableHashTableOfTensors", Prepare: named(mutable, true)},
		{Op: "AnonymousMutableHashTableOfTensors", Prepare: anonymous(mutable)},
		{Op: "MutableDenseHashTableV2", Prepare: named(dense, false)},
		{Op: "AnonymousMutableDenseHashTable", Prepare: anonymous(dense)},
		{Op: "GenerateVocabRemapping", Prepare: vocabRemapping},
		{Op: "LookupTableFindV2", Run: find},
		{Op: "LookupTableFind", Run: find},
		{Op: "LookupTableSizeV2", Run: size},
		{Op: "LookupTableSize", Run: size},
		{Op: "LookupTableExportV2", Run: export},
		{Op: "LookupTableExport", Run: export},
		{Op: "LookupTableInsertV2", Run: insert},
		{Op: "LookupTableInsert", Run: insert},
		{Op: "LookupTableRemoveV2", Run: remove},
		{Op: "LookupTableImportV2", Run: importAll},
		{Op: "LookupTableImport", Run: importAll},
		{Op: "InitializeTableV2", Run: initialize},
		{Op: "InitializeTable", Run: initialize},
		{Op: "InitializeTableFromTextFileV2", Prepare: fromTextFile},
		{Op: "InitializeTableFromTextFile", Prepare: fromTextFile},
	}
}
