package main

// #include <berth.h>
// #include <stdlib.h>
import "C"

import (
	"strings"
	"unsafe"
)

// memory is C memory for the arrays of one call. cgo refuses a struct in Go memory that points to other Go memory, and
// Berth's structs point to arrays; so the arrays are here. The structs themselves may be Go's.
//
// A scheduler with large columns fills them in place, through unsafe.Slice, and copies nothing.
type memory []unsafe.Pointer

// column returns C memory with these rows. C.calloc, because Go must find zeros where it stores its first pointer.
func column[T any](m *memory, rows ...T) *T {
	var row T
	p := C.calloc(C.size_t(len(rows)+1), C.size_t(unsafe.Sizeof(row)))
	if p == nil {
		panic("out of memory")
	}
	*m = append(*m, p)
	copy(unsafe.Slice((*T)(p), len(rows)), rows)
	return (*T)(p)
}

// texts returns the rows as bytes with offsets, which Berth reads without counting to a zero.
func (m *memory) texts(rows ...string) C.berth_texts {
	begin := make([]C.uint64_t, 1, len(rows)+1)
	for _, row := range rows {
		begin = append(begin, begin[len(begin)-1]+C.uint64_t(len(row)))
	}
	return C.berth_texts{bytes: m.text(strings.Join(rows, "")), begin: column(m, begin...)}
}

// text returns one text that ends with a zero.
func (m *memory) text(s string) *C.char {
	p := C.CString(s)
	*m = append(*m, unsafe.Pointer(p))
	return p
}

func (m *memory) free() {
	for _, p := range *m {
		C.free(p)
	}
	*m = nil
}
