package shape

import "github.com/cairnml/cairn/graph"

// tableRules returns the rules of lookup tables.
func tableRules() map[string]Rule {
	return join(
		rules(scalarOut, "HashTableV2", "MutableHashTableV2", "MutableHashTableOfTensorsV2", "MutableDenseHashTableV2",
			"AnonymousHashTable", "AnonymousMutableHashTable", "AnonymousMutableHashTableOfTensors",
			"AnonymousMutableDenseHashTable", "LookupTableSizeV2", "LookupTableSize"),
		rules(tableReference, "HashTable", "MutableHashTable", "MutableHashTableOfTensors", "MutableDenseHashTable"),
		rules(nothing, "LookupTableImportV2", "LookupTableInsertV2", "LookupTableRemoveV2", "InitializeTableV2",
			"InitializeTableFromTextFileV2", "LookupTableImport", "LookupTableInsert", "InitializeTable",
			"InitializeTableFromTextFile"),
		rules(find, "LookupTableFindV2", "LookupTableFind"),
		rules(export, "LookupTableExportV2", "LookupTableExport"))
}

// tableReference infers a reference to two strings, the handles of TensorFlow
// 1.
func tableReference(c *Inference) error {
	c.setDims(0, 2)
	return nil
}

// find infers one value per key.
func find(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	if s := c.shape(2); s.HasRank() && s.Rank() == 0 {
		c.set(0, c.shape(1))
		return nil
	}
	return nil // the values, or even the keys, may be vectors
}

// export returns keys and values, of which the table's kind decides the shapes.
func export(c *Inference) error {
	for i := range c.Out {
		c.set(i, graph.PartialShape{})
	}
	return nil
}
