package ops

// note is a remark about a value.
type note struct{ key, value any }

// SetNote stores a remark about the value, such as a layer's mask. Another remark
// under the same key is replaced. Results of ops have no remarks.
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

// Note returns the remark that SetNote stored under key, nil if there is none.
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
