//! The part of berth.h that this program uses, as Rust declares it. `bindgen` would write the same declarations.
//! Column, Strings and the handles make the borrow checker guard what C leaves to the caller: how long memory lives.
#![allow(dead_code)] // not every field is used

use std::ffi::CStr;
use std::marker::PhantomData;
use std::os::raw::{c_char, c_void};
use std::{fmt, mem, ptr};

/// A pointer to the rows of a slice: no copy. The slice stays borrowed while a struct has it. Null: not given.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Column<'a, T>(*const T, PhantomData<&'a [T]>);

impl<'a, T> Column<'a, T> {
    pub fn of(rows: &'a [T]) -> Self {
        Column(rows.as_ptr(), PhantomData)
    }
}

/// Texts as Berth takes them, without counting to a zero: text i is bytes[begin[i]..begin[i + 1]].
pub struct Strings {
    bytes: String,
    begin: Vec<u64>,
}

impl Strings {
    pub fn new(rows: &[&str]) -> Self {
        let mut end = 0;
        let ends = rows.iter().map(|row| {
            end += row.len() as u64;
            end
        });
        Strings { begin: std::iter::once(0).chain(ends).collect(), bytes: rows.concat() }
    }
    pub fn texts(&self) -> Texts<'_> {
        Texts { strings: ptr::null(), bytes: Column::of(self.bytes.as_bytes()), begin: Column::of(&self.begin) }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Texts<'a> {
    strings: *const *const c_char,
    bytes: Column<'a, u8>,
    begin: Column<'a, u64>,
}

/// Every struct of berth.h begins with its size, and zero in all other fields means the defaults.
macro_rules! structs {
    ($($name:ident $(<$a:lifetime>)? { $($field:ident: $type:ty,)* })*) => { $(
        #[repr(C)]
        pub struct $name $(<$a>)? { pub struct_size: u32, $(pub $field: $type,)* }
        impl $(<$a>)? Default for $name $(<$a>)? {
            fn default() -> Self {
                // Numbers, nullable pointers and arrays of them: zero is a value of each.
                $name { struct_size: mem::size_of::<Self>() as u32, ..unsafe { mem::zeroed() } }
            }
        }
    )* };
}

structs! {
    RawError { status: i32, line: i64, file: [c_char; 256], pointer: [c_char; 256], message: [c_char; 1024], }
    Entries<'a> {
        n: u64, node: Texts<'a>, gpus: Column<'a, u64>, group: Texts<'a>, member: Column<'a, i32>,
        share_ppm: Column<'a, i32>, time_shared: Column<'a, u8>,
    }
    Jobs<'a> {
        n: u64, id: Texts<'a>, user: Texts<'a>, tenant: Texts<'a>, queue: Texts<'a>, virtual_cluster: Texts<'a>,
        submit_us: Column<'a, i64>, priority: Column<'a, i32>, weight_ppm: Column<'a, i64>, kind: Column<'a, i32>,
        time_limit_us: Column<'a, i64>, estimate_us: Column<'a, i64>, deadline_us: Column<'a, i64>,
        deadline_hard: Column<'a, u8>, preemptible: Column<'a, u8>, preemption_class: Column<'a, i32>,
        restart_us: Column<'a, i64>, migrate_us: Column<'a, i64>, scale_us: Column<'a, i64>,
        cpu_milli_per_gpu: Column<'a, i64>, memory_bytes_per_gpu: Column<'a, i64>, gpu_memory_bytes: Column<'a, i64>,
        shape_begin: Column<'a, u64>, n_shapes: u64, shape_id: Texts<'a>, shape_gpus: Column<'a, i32>,
        shape_gpu_type: Texts<'a>, shape_share_ppm: Column<'a, i32>, shape_local_batch: Column<'a, i32>,
        shape_rate: Column<'a, i64>, shape_gpus_per_member: Column<'a, i32>, shape_require_level: Texts<'a>,
        running_shape: Column<'a, i32>, entry_begin: Column<'a, u64>, entries: Option<&'a Entries<'a>>,
        work_done: Column<'a, i64>, work_total: Column<'a, i64>, run_us: Column<'a, i64>,
        attained_gpu_us: Column<'a, i64>,
    }
    Cluster<'a> {
        now_us: i64, n_gpu_types: u64, gpu_type: Texts<'a>, gpu_type_memory_bytes: Column<'a, i64>,
        n_domains: u64, domain: Texts<'a>, domain_level: Texts<'a>, domain_parent: Column<'a, i32>,
        domain_topology: Column<'a, i32>, n_nodes: u64, node: Texts<'a>, node_gpu_type: Column<'a, i32>,
        node_gpus: Column<'a, i32>, node_domain: [Column<'a, i32>; 5], node_state: Column<'a, i32>,
        node_cpu_milli: Column<'a, i64>, node_memory_bytes: Column<'a, i64>, node_available_from_us: Column<'a, i64>,
        node_available_until_us: Column<'a, i64>, node_sharing: Column<'a, u8>, n_queues: u64, queue: Texts<'a>,
        queue_parent: Column<'a, i32>, queue_weight_ppm: Column<'a, i64>, queue_limit: Column<'a, i64>,
        queue_guarantee: Column<'a, i64>, jobs: Option<&'a Jobs<'a>>, queue_lending: Column<'a, i64>,
    }
    Deltas<'a> {
        n: u64, kind: Column<'a, i32>, id: Texts<'a>, text: Texts<'a>, time_us: Column<'a, i64>, value: Column<'a, i32>,
        index: Column<'a, i32>, row: Column<'a, u64>, jobs: Option<&'a Jobs<'a>>, entry_begin: Column<'a, u64>,
        entries: Option<&'a Entries<'a>>, n_progress: u64, work_done: Column<'a, i64>, work_total: Column<'a, i64>,
        run_us: Column<'a, i64>, attained_gpu_us: Column<'a, i64>,
    }
    StateInfo {
        revision: u64, now_us: i64, nodes: u64, gpus: u64, jobs: u64, running_jobs: u64, job_index_end: u64, batches: u64,
        refused_batches: u64,
    }
    Request<'a> {
        backend: i32, policy: *const c_char, n_params: u64, params: Texts<'a>, threads: i32, changes_only: i32, seed: u64,
        max_iterations: i64, budget_us: i64, progress: Option<extern "C" fn(*mut c_void, u64, u64) -> i32>,
        progress_data: *mut c_void,
    }
    PlanInfo {
        proof: i32, revision: u64, now_us: i64, n_decisions: u64, n_entries: u64, policy: *const c_char,
        backend: *const c_char, backend_note: *const c_char, stopped_by: *const c_char, seed: u64, iterations: u64,
        order_until_us: i64, gpus: u64, gpus_used: u64, starts: u64, keeps: u64, moves: u64, preempts: u64, waits: u64,
        rejects: u64, replaces: u64, reserves: u64, decide_s: f64,
    }
    // Columns that a call fills.
    Decisions {
        job: *mut i32, action: *mut i32, shape: *mut i32, entry_begin: *mut u64, entry_end: *mut u64,
        local_batch: *mut i32, rate: *mut i64, start_us: *mut i64, finish_us: *mut i64, cost_us: *mut i64,
        reason: *mut i32, certified: *mut u8, asked: *mut i64, best: *mut i64, missing: *mut i64, until_us: *mut i64,
        other_job: *mut i32,
    }
}

pub const STALE_PLAN: i32 = -4;
pub const SWITCH: usize = 0;
pub const SET_TIME: i32 = 1;
pub const PUT_JOB: i32 = 2;
pub const REMOVE_JOB: i32 = 3;
pub const START: i32 = 0;
pub const MIGRATE: i32 = 3;
pub const PREEMPT: i32 = 4;
pub const WAIT: i32 = 5;
pub const REPLACE: i32 = 7;
pub const TEXT_JOB: i32 = 1;
pub const TEXT_REASON: i32 = 3;
pub const TEXT_NODE: i32 = 7;

/// Handles: each frees its object when it goes out of scope.
macro_rules! handles {
    ($($name:ident, $raw:ident, $destroy:ident;)*) => { $(
        pub enum $raw {}
        pub struct $name(pub *mut $raw);
        impl $name {
            /// `create` stores the object.
            pub fn new(create: impl FnOnce(&mut *mut $raw, &mut RawError) -> i32) -> Result<Self, Error> {
                let mut object = ptr::null_mut();
                call(|error| create(&mut object, error))?;
                Ok($name(object))
            }
        }
        impl Drop for $name {
            fn drop(&mut self) {
                unsafe { $destroy(&mut self.0, ptr::null_mut()) };
            }
        }
    )* };
}

handles! {
    State, RawState, berth_state_destroy;
    Engine, RawEngine, berth_engine_destroy;
    PolicyState, RawPolicyState, berth_policy_state_destroy;
    Plan, RawPlan, berth_plan_destroy;
}

extern "C" {
    pub fn berth_status_name(status: i32) -> *const c_char;
    pub fn berth_free(text: *mut c_char);
    pub fn berth_state_from_arrays(cluster: &Cluster, out: &mut *mut RawState, error: &mut RawError) -> i32;
    pub fn berth_state_get_info(state: *mut RawState, info: &mut StateInfo, error: &mut RawError) -> i32;
    pub fn berth_state_apply(state: *mut RawState, deltas: &Deltas, revision: *mut u64, error: &mut RawError) -> i32;
    pub fn berth_state_destroy(state: &mut *mut RawState, error: *mut RawError) -> i32;
    pub fn berth_engine_create(out: &mut *mut RawEngine, error: &mut RawError) -> i32;
    pub fn berth_engine_destroy(engine: &mut *mut RawEngine, error: *mut RawError) -> i32;
    pub fn berth_policy_state_create(out: &mut *mut RawPolicyState, error: &mut RawError) -> i32;
    pub fn berth_policy_state_destroy(policy_state: &mut *mut RawPolicyState, error: *mut RawError) -> i32;
    pub fn berth_plan_create(out: &mut *mut RawPlan, error: &mut RawError) -> i32;
    pub fn berth_plan_destroy(plan: &mut *mut RawPlan, error: *mut RawError) -> i32;
    pub fn berth_decide(
        engine: *mut RawEngine,
        state: *mut RawState,
        policy_state: *mut RawPolicyState,
        request: &Request,
        plan: *mut RawPlan,
        error: &mut RawError,
    ) -> i32;
    pub fn berth_commit(state: *mut RawState, plan: *mut RawPlan, revision: *mut u64, error: &mut RawError) -> i32;
    pub fn berth_plan_get_info(plan: *mut RawPlan, info: &mut PlanInfo, error: &mut RawError) -> i32;
    pub fn berth_plan_decisions(
        plan: *mut RawPlan,
        first: u64,
        count: u64,
        columns: &Decisions,
        error: &mut RawError,
    ) -> i32;
    pub fn berth_plan_texts(
        plan: *mut RawPlan,
        state: *mut RawState,
        what: i32,
        first: u64,
        count: u64,
        bytes: &mut *mut c_char,
        begin: *mut u64,
        error: &mut RawError,
    ) -> i32;
}

/// The failure of a call: compare `status`, show `message`.
#[derive(Debug)]
pub struct Error {
    pub status: i32,
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = unsafe { CStr::from_ptr(berth_status_name(self.status)) };
        write!(f, "{}: {}", name.to_string_lossy(), self.message)
    }
}

impl std::error::Error for Error {}

/// Gives one call an error object, and makes a Result of its status.
pub fn call(f: impl FnOnce(&mut RawError) -> i32) -> Result<(), Error> {
    let mut error = RawError::default();
    match f(&mut error) {
        0 => Ok(()),
        status => {
            let message = unsafe { CStr::from_ptr(error.message.as_ptr()) };
            Err(Error { status, message: message.to_string_lossy().into_owned() })
        }
    }
}
