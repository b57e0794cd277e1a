package ops

// note is one note about a value and its key.
type note struct{ key, value any }

// SetNote stores a note about the value. A note under the same key is replaced. An
// op doesn't pass the notes of its inputs on to its results. The code that calls ops
// sets the notes of results: package keras/base stores the masks of layers' outputs
// so. Keys are compared by ==; use an unexported type, as for [context.WithValue].
func (v *Value) SetNote(key, remark any) {
	e := v.mark()
	for i := range e.notes {
		if e.notes[i].key == key {
			e.notes[i].value = remark
			return
		}
	}
	e.notes = append(e.notes, note{key, remark})
}

// Note returns the note that SetNote stored under key, nil if there is none.
func (v *Value) Note(key any) any {
	if v == nil {
		return nil
	}
	for _, n := range v.extras().notes {
		if n.key == key {
			return n.value
		}
	}
	return nil
}
