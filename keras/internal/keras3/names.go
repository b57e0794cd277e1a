package keras3

// LayerName returns the class name in Keras 3 of the built-in layer class of Keras 2 called name.
// It returns name itself if both are equal or the class isn't built in. keras/saving makes the
// paths of weights in files from it, so the pairs of names must stay.
func LayerName(name string) string {
	if c := byName().two[key{layer, name}]; c != nil {
		return c.three
	}
	return name
}
