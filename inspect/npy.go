package inspect

import (
	"errors"

	"github.com/cairnml/cairn/tensor"
)

// npyFault returns the fault of a .npz or .npy file that err describes; false if err is another error,
// such as one of reading. Verify calls it.
func npyFault(file string, err error) (Fault, bool) {
	var n *tensor.NPYError
	if !errors.As(err, &n) {
		return Fault{}, false
	}
	f := Fault{File: file, Offset: -1, Tensor: n.Name, What: n.What}
	if n.Err != nil {
		f.What += ": " + n.Err.Error()
	}
	return f, true
}
