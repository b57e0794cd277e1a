package riegeli

import (
	"encoding/binary"
	"encoding/hex"
	"testing"
)

// TestTheSignatureIsTheSpecifications: its two hashes are riegeli's own, so the
// hash and its key are right.
func TestTheSignatureIsTheSpecifications(t *testing.T) {
	h := hex.EncodeToString
	if got := binary.LittleEndian.AppendUint64(nil, hash([]byte(signature[8:24]))); h(got) != "83af70d10d884a3f" {
		t.Errorf("the block's hash is %x", got)
	}
	if got := binary.LittleEndian.AppendUint64(nil, hash([]byte(signature[32:64]))); h(got) != "91bac23c9287e1a9" {
		t.Errorf("the chunk's hash is %x", got)
	}
	if got := binary.LittleEndian.AppendUint64(nil, hash(nil)); h(got) != "e19f13c0e9b1c372" {
		t.Errorf("the hash of nothing is %x", got)
	}
	if records, err := Read([]byte(signature), 1<<20); err != nil || len(records) != 0 {
		t.Errorf("%v, %v", records, err)
	}
}
