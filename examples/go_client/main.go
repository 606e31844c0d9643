// A scheduler's loop around Berth in Go, without a snapshot document: the cluster comes from arrays.
// It prints what ../live_loop_c prints for ../tiny_cluster.json, which describes the same cluster.
//
//	go build && ./go_client
//
// Go 1.19 or newer; cgo finds the library by pkg-config.
package main

// #cgo pkg-config: berth_c
// #include <berth.h>
import "C"

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"
)

// Error is the failure of a call: compare Status, show Message.
type Error struct {
	Status  C.berth_status
	Message string
}

func (e *Error) Error() string {
	return C.GoString(C.berth_status_name(e.Status)) + ": " + e.Message
}

// call passes an error object to one call. Each call has its own, because a goroutine may change its thread.
func call(f func(*C.berth_error) C.berth_status) error {
	what := C.berth_error{struct_size: C.sizeof_berth_error}
	if status := f(&what); status != C.BERTH_OK {
		return &Error{status, C.GoString(&what.message[0])}
	}
	return nil
}

const second = 1000000 // times are microseconds

// newState creates the cluster: two nodes of 8 GPUs in one rack, a job that runs on the first, and two that wait.
func newState() (state *C.berth_state, err error) {
	var m memory
	defer m.free() // Berth has copied the arrays when the call returns
	running := C.berth_entries{
		struct_size: C.sizeof_berth_entries,
		n:           1,
		node:        m.texts("n0"),
		gpus:        column[C.uint64_t](&m, 0xff), // all eight
	}
	jobs := C.berth_jobs{
		struct_size:     C.sizeof_berth_jobs,
		n:               3,
		id:              m.texts("long", "wide", "short"),
		user:            m.texts("bob", "eve", "ann"),
		submit_us:       column[C.int64_t](&m, 0, 900*second, 950*second),
		estimate_us:     column[C.int64_t](&m, 7200*second, 1800*second, 300*second),
		shape_gpus:      column[C.int32_t](&m, 8, 12, 4),
		running_shape:   column[C.int32_t](&m, 0, -1, -1),   // the first job runs in its only shape
		entry_begin:     column[C.uint64_t](&m, 0, 1, 1, 1), // on row 0 of `running`
		entries:         column(&m, running),                // a struct that another points to is in C memory, too
		run_us:          column[C.int64_t](&m, 600*second, 0, 0),
		attained_gpu_us: column[C.int64_t](&m, 4800*second, 0, 0),
	}
	cluster := C.berth_cluster{
		struct_size:   C.sizeof_berth_cluster,
		now_us:        1000 * second,
		n_gpu_types:   1,
		gpu_type:      m.texts("A100"),
		n_domains:     1,
		domain:        m.texts("r0"),
		domain_level:  m.texts("rack"),
		domain_parent: column[C.int32_t](&m, -1),
		n_nodes:       2,
		node:          m.texts("n0", "n1"),
		node_gpu_type: column[C.int32_t](&m, 0, 0),
		node_gpus:     column[C.int32_t](&m, 8, 8),
		jobs:          column(&m, jobs),
	}
	cluster.node_domain[C.BERTH_TOPOLOGY_SWITCH] = column[C.int32_t](&m, 0, 0)
	err = call(func(e *C.berth_error) C.berth_status { return C.berth_state_from_arrays(&cluster, &state, e) })
	return
}

// report applies what happened since the last decision, all of it or nothing: half a minute passed, a job ended,
// another came.
func report(state *C.berth_state, done string, round int) (revision C.uint64_t, err error) {
	info := C.berth_state_info{struct_size: C.sizeof_berth_state_info}
	if err = call(func(e *C.berth_error) C.berth_status { return C.berth_state_get_info(state, &info, e) }); err != nil {
		return
	}
	now := info.now_us + 30*second
	var m memory
	defer m.free()
	arrival := C.berth_jobs{
		struct_size: C.sizeof_berth_jobs,
		n:           1,
		id:          m.texts(fmt.Sprint("arrival-", round)),
		user:        m.texts("ann"),
		submit_us:   column(&m, now),
		estimate_us: column[C.int64_t](&m, 600*second),
		shape_gpus:  column[C.int32_t](&m, 8),
	}
	deltas := C.berth_deltas{
		struct_size: C.sizeof_berth_deltas,
		n:           3,
		kind:        column[C.int32_t](&m, C.BERTH_SET_TIME, C.BERTH_REMOVE_JOB, C.BERTH_PUT_JOB),
		id:          m.texts("", done, ""),
		text:        m.texts("", "completed", ""),
		time_us:     column(&m, now, 0, 0),
		row:         column[C.uint64_t](&m, 0, 0, 0), // the third delta puts row 0 of `arrival`
		jobs:        column(&m, arrival),
	}
	err = call(func(e *C.berth_error) C.berth_status { return C.berth_state_apply(state, &deltas, &revision, e) })
	return
}

// decision is a row of a plan, as far as this program reads it.
type decision struct {
	index, action C.int32_t
	job, reason  string
	nodes        []string
}

// readPlan reads the columns of a plan, and the texts of its rows.
func readPlan(plan *C.berth_plan, state *C.berth_state) (rows []decision, info C.berth_plan_info, err error) {
	info.struct_size = C.sizeof_berth_plan_info
	if err = call(func(e *C.berth_error) C.berth_status { return C.berth_plan_get_info(plan, &info, e) }); err != nil {
		return
	}
	n := int(info.n_decisions)
	var m memory
	defer m.free()
	columns := C.berth_decisions{
		struct_size: C.sizeof_berth_decisions,
		job:         column(&m, make([]C.int32_t, n)...),
		action:      column(&m, make([]C.int32_t, n)...),
		entry_begin: column(&m, make([]C.uint64_t, n)...),
		entry_end:   column(&m, make([]C.uint64_t, n)...),
	}
	err = call(func(e *C.berth_error) C.berth_status {
		return C.berth_plan_decisions(plan, 0, info.n_decisions, &columns, e)
	})
	if err != nil {
		return
	}
	var jobs, reasons, nodes []string
	if jobs, err = planTexts(plan, state, C.BERTH_TEXT_JOB, n); err != nil {
		return
	}
	if reasons, err = planTexts(plan, state, C.BERTH_TEXT_REASON, n); err != nil {
		return
	}
	if nodes, err = planTexts(plan, state, C.BERTH_TEXT_NODE, int(info.n_entries)); err != nil {
		return
	}
	// C memory seen as slices, without a copy.
	index, action := unsafe.Slice(columns.job, n), unsafe.Slice(columns.action, n)
	begin, end := unsafe.Slice(columns.entry_begin, n), unsafe.Slice(columns.entry_end, n)
	for i := 0; i < n; i++ {
		rows = append(rows, decision{index[i], action[i], jobs[i], reasons[i], nodes[begin[i]:end[i]]})
	}
	return
}

// planTexts returns one text for each of the first n rows.
func planTexts(plan *C.berth_plan, state *C.berth_state, what C.int32_t, n int) (rows []string, err error) {
	var bytes *C.char
	begin := make([]C.uint64_t, n+1) // numbers alone: a call may take Go memory that holds no pointers
	err = call(func(e *C.berth_error) C.berth_status {
		return C.berth_plan_texts(plan, state, what, 0, C.uint64_t(n), &bytes, &begin[0], e)
	})
	if err != nil {
		return
	}
	defer C.berth_free(unsafe.Pointer(bytes))
	all := C.GoStringN(bytes, C.int(begin[n]))
	for i := 0; i < n; i++ {
		rows = append(rows, all[begin[i]:begin[i+1]])
	}
	return
}

// show prints one line per job whose lot changes, and why the first of those that wait waits.
func show(rows []decision, info *C.berth_plan_info) {
	waiterShown := false
	for _, row := range rows {
		switch row.action {
		case C.BERTH_ACTION_START:
			fmt.Println("  start  ", row.job, "on", strings.Join(row.nodes, " "))
		case C.BERTH_ACTION_MIGRATE:
			fmt.Println("  migrate", row.job, "on", strings.Join(row.nodes, " "))
		case C.BERTH_ACTION_PREEMPT:
			fmt.Println("  preempt", row.job)
		case C.BERTH_ACTION_WAIT:
			if !waiterShown {
				fmt.Printf("  wait    %s: %s\n", row.job, row.reason)
			}
			waiterShown = true
		}
	}
	fmt.Printf("  %d of %d GPUs in use, %d jobs wait\n", info.gpus_used, info.gpus, info.waits)
}

// firstRunning returns the id of the first job that runs, by job index. As a scheduler knows what runs, this one asks its
// own plan.
func firstRunning(rows []decision) string {
	var best *decision
	for i := range rows {
		row := &rows[i]
		runs := row.action <= C.BERTH_ACTION_MIGRATE || row.action == C.BERTH_ACTION_REPLACE
		if runs && (best == nil || row.index < best.index) {
			best = row
		}
	}
	if best == nil {
		return ""
	}
	return best.job
}

func run() (err error) {
	var (
		engine *C.berth_engine
		memo   *C.berth_policy_state // what the policy remembers from one decision to the next
		plan   *C.berth_plan         // kept, so that its memory is used again
	)
	state, err := newState()
	if err != nil {
		return err
	}
	defer C.berth_state_destroy(&state, nil)
	if err = call(func(e *C.berth_error) C.berth_status { return C.berth_engine_create(&engine, e) }); err != nil {
		return err
	}
	defer C.berth_engine_destroy(&engine, nil)
	if err = call(func(e *C.berth_error) C.berth_status { return C.berth_policy_state_create(&memo, e) }); err != nil {
		return err
	}
	defer C.berth_policy_state_destroy(&memo, nil)
	if err = call(func(e *C.berth_error) C.berth_status { return C.berth_plan_create(&plan, e) }); err != nil {
		return err
	}
	defer C.berth_plan_destroy(&plan, nil)

	var m memory
	defer m.free()
	request := C.berth_request{struct_size: C.sizeof_berth_request, policy: m.text("srsf")}
	commit := func(e *C.berth_error) C.berth_status { return C.berth_commit(state, plan, nil, e) }
	done := ""
	for round := 0; round < 3; round++ {
		if round > 0 {
			if _, err = report(state, done, round); err != nil {
				return err
			}
		}
		err = call(func(e *C.berth_error) C.berth_status { return C.berth_decide(engine, state, memo, &request, plan, e) })
		if err != nil {
			return err
		}
		rows, info, err := readPlan(plan, state)
		if err != nil {
			return err
		}
		fmt.Printf("revision %d: %d jobs, policy %s\n", info.revision, len(rows), C.GoString(info.policy))
		show(rows, &info)
		done = firstRunning(rows)
		if err = call(commit); err != nil {
			return err
		}
	}
	// A plan belongs to one revision: the cluster has moved on, and the old plan is refused.
	var stale *Error
	if err = call(commit); !errors.As(err, &stale) || stale.Status != C.BERTH_STALE_PLAN {
		return fmt.Errorf("a stale plan was not refused: %v", err)
	}
	fmt.Println("stale plan refused:", stale.Message)
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "go_client:", err)
		os.Exit(1)
	}
}
