//! A scheduler's loop around Berth in Rust, without a snapshot document: the cluster comes from slices, without copies.
//! It prints what ../live_loop_c prints for ../tiny_cluster.json, which describes the same cluster.
//!
//!     rustc --edition 2021 main.rs -o rust_client $(pkg-config --libs berth_c) && ./rust_client
//!
//! Rust 1.63 or newer; no crates.

mod berth;
use berth::*;
use std::ffi::CString;
use std::ptr;

const SECOND: i64 = 1_000_000; // times are microseconds

/// Two nodes of 8 GPUs in one rack, a job that runs on the first, and two that wait.
fn new_state() -> Result<State, Error> {
    let [gpu_type, rack, level, nodes] = [&["A100"][..], &["r0"], &["rack"], &["n0", "n1"]].map(Strings::new);
    let [job_ids, users, on] = [&["long", "wide", "short"][..], &["bob", "eve", "ann"], &["n0"]].map(Strings::new);
    let running = Entries { n: 1, node: on.texts(), gpus: Column::of(&[0xff]), ..Default::default() };
    let jobs = Jobs {
        n: 3,
        id: job_ids.texts(),
        user: users.texts(),
        submit_us: Column::of(&[0, 900 * SECOND, 950 * SECOND]),
        estimate_us: Column::of(&[7200 * SECOND, 1800 * SECOND, 300 * SECOND]),
        shape_gpus: Column::of(&[8, 12, 4]),
        running_shape: Column::of(&[0, -1, -1]), // the first job runs in its only shape
        entry_begin: Column::of(&[0, 1, 1, 1]),  // on row 0 of `running`
        entries: Some(&running),
        run_us: Column::of(&[600 * SECOND, 0, 0]),
        attained_gpu_us: Column::of(&[4800 * SECOND, 0, 0]),
        ..Default::default()
    };
    let mut cluster = Cluster {
        now_us: 1000 * SECOND,
        n_gpu_types: 1,
        gpu_type: gpu_type.texts(),
        n_domains: 1,
        domain: rack.texts(),
        domain_level: level.texts(),
        domain_parent: Column::of(&[-1]),
        n_nodes: 2,
        node: nodes.texts(),
        node_gpu_type: Column::of(&[0, 0]),
        node_gpus: Column::of(&[8, 8]),
        jobs: Some(&jobs),
        ..Default::default()
    };
    cluster.node_domain[SWITCH] = Column::of(&[0, 0]);
    // Safe: every column has as many rows as its count says. Berth copies them during the call.
    State::new(|out, error| unsafe { berth_state_from_arrays(&cluster, out, error) })
}

/// What happened since the last decision, all of it or nothing: half a minute passed, a job ended, another came.
fn report(state: &State, done: &str, round: u32) -> Result<(), Error> {
    let mut info = StateInfo::default();
    call(|error| unsafe { berth_state_get_info(state.0, &mut info, error) })?;
    let now = info.now_us + 30 * SECOND;
    let arrival = format!("arrival-{round}");
    let [id, user] = [&[arrival.as_str()], &["ann"]].map(|rows| Strings::new(rows));
    let [ids, texts] = [["", done, ""], ["", "completed", ""]].map(|rows| Strings::new(&rows));
    let (submit, times) = ([now], [now, 0, 0]);
    let jobs = Jobs {
        n: 1,
        id: id.texts(),
        user: user.texts(),
        submit_us: Column::of(&submit),
        estimate_us: Column::of(&[600 * SECOND]),
        shape_gpus: Column::of(&[8]),
        ..Default::default()
    };
    let deltas = Deltas {
        n: 3,
        kind: Column::of(&[SET_TIME, REMOVE_JOB, PUT_JOB]),
        id: ids.texts(),
        text: texts.texts(),
        time_us: Column::of(&times),
        row: Column::of(&[0, 0, 0]), // the third delta puts row 0 of `jobs`
        jobs: Some(&jobs),
        ..Default::default()
    };
    call(|error| unsafe { berth_state_apply(state.0, &deltas, ptr::null_mut(), error) })
}

/// A row of a plan, as far as this program reads it.
struct Decision {
    index: i32,
    action: i32,
    job: String,
    reason: String,
    nodes: Vec<String>,
}

fn read_plan(plan: &Plan, state: &State) -> Result<(Vec<Decision>, PlanInfo), Error> {
    let mut info = PlanInfo::default();
    call(|error| unsafe { berth_plan_get_info(plan.0, &mut info, error) })?;
    let n = info.n_decisions as usize;
    let (mut index, mut action, mut begin, mut end) = (vec![0; n], vec![0; n], vec![0; n], vec![0; n]);
    let columns = Decisions {
        job: index.as_mut_ptr(),
        action: action.as_mut_ptr(),
        entry_begin: begin.as_mut_ptr(),
        entry_end: end.as_mut_ptr(),
        ..Default::default()
    };
    call(|error| unsafe { berth_plan_decisions(plan.0, 0, info.n_decisions, &columns, error) })?;
    let jobs = plan_texts(plan, state, TEXT_JOB, info.n_decisions)?;
    let reasons = plan_texts(plan, state, TEXT_REASON, info.n_decisions)?;
    let nodes = plan_texts(plan, state, TEXT_NODE, info.n_entries)?;
    let rows = jobs.into_iter().zip(reasons).enumerate().map(|(i, (job, reason))| Decision {
        index: index[i],
        action: action[i],
        job,
        reason,
        nodes: nodes[begin[i] as usize..end[i] as usize].to_vec(),
    });
    Ok((rows.collect(), info))
}

/// One text for each of the first `n` rows.
fn plan_texts(plan: &Plan, state: &State, what: i32, n: u64) -> Result<Vec<String>, Error> {
    let mut bytes = ptr::null_mut();
    let mut begin = vec![0u64; n as usize + 1];
    call(|error| unsafe { berth_plan_texts(plan.0, state.0, what, 0, n, &mut bytes, begin.as_mut_ptr(), error) })?;
    let all = unsafe { std::slice::from_raw_parts(bytes as *const u8, begin[n as usize] as usize) };
    let text = |row: &[u64]| String::from_utf8_lossy(&all[row[0] as usize..row[1] as usize]).into_owned();
    let texts = begin.windows(2).map(text).collect();
    unsafe { berth_free(bytes) };
    Ok(texts)
}

/// One line per job whose lot changes, and why the first of those that wait waits.
fn show(rows: &[Decision], info: &PlanInfo) {
    let mut waiter_shown = false;
    for row in rows {
        match row.action {
            START => println!("  start   {} on {}", row.job, row.nodes.join(" ")),
            MIGRATE => println!("  migrate {} on {}", row.job, row.nodes.join(" ")),
            PREEMPT => println!("  preempt {}", row.job),
            WAIT if !waiter_shown => {
                println!("  wait    {}: {}", row.job, row.reason);
                waiter_shown = true;
            }
            _ => {}
        }
    }
    println!("  {} of {} GPUs in use, {} jobs wait", info.gpus_used, info.gpus, info.waits);
}

/// The id of the first job that runs, by job index. As a scheduler knows what runs, this one asks its own plan.
fn first_running(rows: &[Decision]) -> String {
    let runs = |row: &&Decision| row.action <= MIGRATE || row.action == REPLACE;
    rows.iter().filter(runs).min_by_key(|row| row.index).map_or(String::new(), |row| row.job.clone())
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let state = new_state()?;
    let engine = Engine::new(|out, error| unsafe { berth_engine_create(out, error) })?;
    // What the policy remembers from one decision to the next.
    let policy_state = PolicyState::new(|out, error| unsafe { berth_policy_state_create(out, error) })?;
    // Kept, so that its memory is used again.
    let plan = Plan::new(|out, error| unsafe { berth_plan_create(out, error) })?;
    let policy = CString::new("srsf")?;
    let request = Request { policy: policy.as_ptr(), ..Default::default() };
    let commit = || call(|error| unsafe { berth_commit(state.0, plan.0, ptr::null_mut(), error) });
    let mut done = String::new();
    for round in 0..3 {
        if round > 0 {
            report(&state, &done, round)?;
        }
        call(|error| unsafe { berth_decide(engine.0, state.0, policy_state.0, &request, plan.0, error) })?;
        let (rows, info) = read_plan(&plan, &state)?;
        println!("revision {}: {} jobs, policy srsf", info.revision, rows.len());
        show(&rows, &info);
        done = first_running(&rows);
        commit()?;
    }
    // A plan belongs to one revision: the cluster has moved on, and the old plan is refused.
    match commit() {
        Err(error) if error.status == STALE_PLAN => println!("stale plan refused: {}", error.message),
        other => return Err(format!("a stale plan was not refused: {other:?}").into()),
    }
    Ok(())
}

fn main() {
    if let Err(error) = run() {
        eprintln!("rust_client: {error}");
        std::process::exit(1);
    }
}
