package keras3

// LayerName returns the name that a built-in layer of Keras 2 has in Keras 3, name itself if they
// are the same. keras/saving makes paths in files of it.
func LayerName(name string) string {
	if c := byName().two[key{layer, name}]; c != nil {
		return c.three
	}
	return name
}
