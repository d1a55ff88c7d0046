import { isFinal, runStatuses, transitions, type FinalStatus, type RunStatus } from '@millrace/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cancelRun } from '../cancel/cancel.ts';
import { readAttemptRows } from '../attempts/rows.ts';
import { rescueRunner } from '../dispatch/rescue.ts';
import { createBeginWaits } from '../waits/begin.ts';
import { endDueWaits } from '../waits/due.ts';
import { testEngine, type TestEngine } from '../testing/engine.ts';
import { isLong, numRuns } from '../../../../../test/support/long.ts';

/**
 * Compares the run engine with a model of it. A random sequence of operations runs against the real database; after each one, every run must be
 * where the model expects it, and the invariants of the tables must hold. A failure prints seed and path: pass them to `fc.assert` to replay
 * it.
 */
const tasks = ['free', 'limited', 'keyed', 'unknown'] as const;
type Task = (typeof tasks)[number];
const limits: Readonly<Partial<Record<Task, number>>> = { limited: 2, keyed: 1 };

interface ModelRun {
  readonly id: string;
  /** Time to live in seconds. */
  readonly ttl: number;
  readonly task: Task;
  /** `waiting` and `ready` are both suspended; a ready run lacks only its slot. */
  state: 'queued' | 'delayed' | 'pending_version' | 'leased' | 'waiting' | 'ready' | 'final';
  /** The runs, tokens and times that its attempt waits for, including waits left behind when its code started again. */
  readonly waitsFor: Set<string | number>;
  due: number;
  expiresAt: number;
  status: FinalStatus | undefined;
  attempt: number;
  canceling: boolean;
  rescues: number;
  runner: string | undefined;
  /** Its stored ended attempts: number and status. */
  readonly attempts: string[];
}

type Step =
  | {
      readonly act: 'trigger';
      readonly task: Task;
      readonly key: string;
      readonly delayMs: number;
      readonly ttl: number;
      /** Its idempotency key; empty for none. */
      readonly once: string;
      readonly debounced: boolean;
    }
  | { readonly act: 'claim'; readonly runner: string; readonly want: number }
  | {
      readonly act: 'end';
      readonly pick: number;
      readonly how: 'completed' | 'failed' | 'retry' | 'released' | 'returned' | 'canceled';
    }
  | { readonly act: 'endStale'; readonly pick: number }
  | { readonly act: 'cancel'; readonly pick: number }
  | { readonly act: 'lose'; readonly runner: string }
  | {
      readonly act: 'wait';
      readonly pick: number;
      readonly kind: 'RUN' | 'TIME' | 'TOKEN';
      readonly target: number;
    }
  | { readonly act: 'completeToken'; readonly pick: number }
  | { readonly act: 'resume' }
  | { readonly act: 'pass'; readonly ms: number };

const runner = fc.constantFrom('r1', 'r2');
const pick = fc.nat({ max: 1_000 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant('trigger' as const),
      task: fc.constantFrom(...tasks),
      key: fc.constantFrom('', 'a', 'b'),
      delayMs: fc.constantFrom(0, 0, 5_000),
      ttl: fc.constantFrom(0, 0, 10),
      once: fc.constantFrom('', '', '', 'k1', 'k2'),
      debounced: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant('claim' as const),
      runner,
      want: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant('end' as const),
      pick,
      how: fc.constantFrom(
        'completed' as const,
        'failed' as const,
        'retry' as const,
        'released' as const,
        'returned' as const,
        'canceled' as const,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('endStale' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('cancel' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('lose' as const), runner }) },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant('wait' as const),
      pick,
      kind: fc.constantFrom('RUN' as const, 'TIME' as const, 'TOKEN' as const),
      target: pick,
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('completeToken' as const), pick }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('resume' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant('pass' as const), ms: fc.constantFrom(1_000, 6_000, 11_000) }),
  },
);

const error = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: '' } as const;

const recordedStatus = {
  completed: 'COMPLETED',
  failed: 'FAILED',
  retry: 'FAILED',
  returned: 'RETURNED',
  canceled: 'CANCELED',
} as const;

const debounceMs = 4_000;
/** Final statuses after which an idempotency key creates a new run. */
const staleAfter = new Set<FinalStatus>(['FAILED', 'CRASHED', 'SYSTEM_FAILURE', 'TIMED_OUT', 'EXPIRED']);

function optionsOf({ task, key, delayMs, ttl, once, debounced }: Extract<Step, { act: 'trigger' }>) {
  return {
    ...(delayMs > 0 && { delay: `${delayMs / 1_000}s` }),
    ttl,
    concurrencyKey: task === 'keyed' ? key : '',
    ...(once !== '' && { idempotencyKey: once }),
    ...(debounced && { debounce: { key: 'd', delay: `${debounceMs / 1_000}s` } }),
  };
}

class Drive {
  readonly t: TestEngine;
  readonly version: number;
  readonly runs: ModelRun[] = [];
  /** Live attempts, by run. */
  readonly fences = new Map<string, number>();
  readonly oldFences: { run: string; fence: number }[] = [];
  /** Tokens, and whether they are completed. */
  readonly tokens = new Map<string, boolean>();
  readonly begin: ReturnType<typeof createBeginWaits>;
  /** By task and idempotency key. */
  readonly keys = new Map<string, ModelRun>();
  /** The last debounced run of each task. */
  readonly debounced = new Map<Task, ModelRun>();
  waits = 0;

  constructor(t: TestEngine, version: number) {
    this.t = t;
    this.version = version;
    this.begin = createBeginWaits(t.engine, t.sql, t.dispatch, () => {});
  }

  get now(): number {
    return this.t.engine.clock.now();
  }

  async do(operation: Step): Promise<void> {
    switch (operation.act) {
      case 'trigger':
        return this.trigger(operation);
      case 'claim':
        return this.claim(operation.runner, operation.want);
      case 'end':
        return this.end(operation.pick, operation.how);
      case 'endStale': {
        const old = this.oldFences[operation.pick % this.oldFences.length];
        if (old) expect((await this.t.end(old)).stale).toBe(true);
        return;
      }
      case 'cancel':
        return this.cancel(operation.pick);
      case 'lose':
        return this.lose(operation.runner);
      case 'wait':
        return this.wait(operation);
      case 'completeToken': {
        const id = [...this.tokens.keys()][operation.pick % this.tokens.size];
        if (id === undefined) return;
        await completeToken(this.t, id);
        this.tokens.set(id, true);
        return this.over(id);
      }
      case 'resume':
        return this.resume();
      case 'pass':
        return this.pass(operation.ms);
    }
  }

  async trigger(operation: Extract<Step, { act: 'trigger' }>): Promise<void> {
    const { task, ttl, once, debounced } = operation;
    const delayMs = debounced ? debounceMs : operation.delayMs;
    const before = once === '' ? undefined : this.keys.get(`${task} ${once}`);
    const known = before && !(before.status && staleAfter.has(before.status)) ? before : undefined;
    const pushed = debounced ? this.debounced.get(task) : undefined;
    const { id, isCached } = await this.t.trigger(task, optionsOf(operation));
    expect(isCached).toBe(known !== undefined);
    if (known) {
      expect(id).toBe(known.id);
      return;
    }
    if (pushed && pushed.state === 'delayed' && pushed.attempt === 0) {
      expect(id).toBe(pushed.id);
      pushed.due = this.now + debounceMs;
      if (once !== '') this.keys.set(`${task} ${once}`, pushed);
      return;
    }
    const model: ModelRun = {
      id,
      task,
      state: delayMs > 0 ? 'delayed' : task === 'unknown' ? 'pending_version' : 'queued',
      due: this.now + delayMs,
      expiresAt: ttl > 0 && delayMs === 0 ? this.now + ttl * 1_000 : Number.POSITIVE_INFINITY,
      status: undefined,
      attempt: 0,
      canceling: false,
      rescues: 0,
      runner: undefined,
      waitsFor: new Set(),
      ttl,
      attempts: [],
    };
    this.runs.push(model);
    if (once !== '') this.keys.set(`${task} ${once}`, model);
    if (debounced) this.debounced.set(task, model);
  }

  async wait({ pick: at, kind, target: towards }: Extract<Step, { act: 'wait' }>): Promise<void> {
    const live = this.runs.filter((model) => model.state === 'leased');
    const model = live[at % live.length];
    const target = this.runs[towards % this.runs.length];
    if (!model || !target) return;
    const until = this.now + (towards % 2) * 4_000;
    const token = kind === 'TOKEN' ? await this.token(towards) : '';
    const isOver = {
      RUN: target.state === 'final',
      TIME: towards % 2 === 0,
      TOKEN: this.tokens.get(token) ?? false,
    }[kind];
    const key = `wait/${++this.waits}`;
    const ask = () =>
      this.begin({
        env: this.t.environment.id,
        run: model.id,
        fence: this.fences.get(model.id) as number,
        waits: [
          { key, kind, ...(kind === 'TIME' ? { until } : { target: kind === 'RUN' ? target.id : token }) },
        ],
      });
    let waited = await ask();
    // The first result may be for a wait left behind when its code started again.
    if (waited.state === 'running' && !waited.keys.includes(key)) waited = await ask();
    expect(waited.state).toBe(isOver ? 'running' : 'suspended');
    if (isOver) return;
    model.state = 'waiting';
    model.waitsFor.add({ RUN: target.id, TIME: until, TOKEN: token }[kind]);
    // The run has started, so it does not expire.
    model.expiresAt = Number.POSITIVE_INFINITY;
  }

  async token(n: number): Promise<string> {
    const known = [...this.tokens.keys()].filter((id) => !this.tokens.get(id))[n % 3];
    if (known !== undefined) return known;
    const token = await makeToken(this.t);
    this.tokens.set(token, false);
    return token;
  }

  /** The runs that wait for it become ready, or queued if their code is gone. */
  over(what: string | number): void {
    for (const model of this.runs) {
      if (!model.waitsFor.delete(what) || model.state !== 'waiting') continue;
      model.state = model.runner === undefined ? 'queued' : 'ready';
    }
  }

  async resume(): Promise<void> {
    for (const { run } of await resumeAll(this.t)) {
      const model = this.runs.find((other) => other.id === run);
      expect(model?.state).toBe('ready');
      if (model) model.state = 'leased';
    }
    expect(this.runs.filter((model) => model.state === 'ready' && model.task === 'free')).toEqual([]);
  }

  async claim(by: string, want: number): Promise<void> {
    const claimed = await this.t.claim(by, [this.version], want);
    for (const { run, fence, attempt } of claimed) {
      const model = this.runs.find((other) => other.id === run);
      expect(model?.state).toBe('queued');
      if (!model) continue;
      expect(attempt).toBe(model.attempt + 1);
      model.state = 'leased';
      model.runner = by;
      this.fences.set(run, fence);
    }
    // Progress: free waiting runs are taken, up to the requested number.
    if (claimed.length < want) {
      const waiting = this.runs.filter(
        (model) => model.state === 'queued' && model.task === 'free' && model.expiresAt > this.now,
      );
      expect(waiting).toEqual([]);
    }
  }

  async end(at: number, how: Extract<Step, { act: 'end' }>['how']): Promise<void> {
    // Includes waiting attempts: their code may end anyway.
    const live = this.runs.filter((model) => this.fences.has(model.id));
    const model = live[at % live.length];
    if (!model) return;
    const fence = this.fences.get(model.id) as number;
    const outcome = {
      completed: { kind: 'completed', output: null, outputType: 'application/json' },
      failed: { kind: 'failed', status: 'FAILED', error },
      retry: { kind: 'retry', delayMs: 3_000, error },
      released: { kind: 'released' },
      returned: { kind: 'released', started: true },
      canceled: { kind: 'canceled' },
    } as const;
    const completion = await this.t.end({ run: model.id, fence }, outcome[how]);
    expect(completion.stale).toBe(false);
    this.forget(model, fence);
    if (model.canceling) this.keep(model, 'CANCELED');
    else if (how !== 'released') this.keep(model, recordedStatus[how]);
    if (model.canceling || how === 'canceled') this.finish(model, 'CANCELED');
    else if (how === 'completed') this.finish(model, 'COMPLETED');
    else if (how === 'failed') this.finish(model, 'FAILED');
    else if (how === 'released' || how === 'returned') model.state = 'queued';
    else {
      model.state = 'delayed';
      model.attempt++;
      model.waitsFor.clear();
      model.due = this.now + 3_000;
    }
    // A run that has started does not expire. If it is returned before it starts, it does, counted from when it was due.
    if (how === 'retry' || how === 'returned') model.expiresAt = Number.POSITIVE_INFINITY;
    if (how === 'released' && Number.isFinite(model.expiresAt))
      model.expiresAt = model.due + model.ttl * 1_000;
  }

  async cancel(at: number): Promise<void> {
    const model = this.runs[at % this.runs.length];
    if (!model) return;
    await cancelRun(this.t.engine, this.t.runners, this.t.environment.id, model.id);
    if (this.fences.has(model.id)) model.canceling = true;
    else if (model.state !== 'final') this.finish(model, 'CANCELED');
  }

  async lose(by: string): Promise<void> {
    const { engine, dispatch, complete } = this.t;
    await rescueRunner({ engine, dispatch, complete }, by, `connection of ${by}`);
    for (const model of this.runs) {
      if (model.runner !== by) continue;
      this.forget(model, this.fences.get(model.id) as number);
      if (model.canceling) this.keep(model, 'CANCELED');
      else if (model.state !== 'leased') this.keep(model, 'DETACHED');
      else this.keep(model, model.rescues >= 3 ? 'CRASHED' : 'LOST');
      // The waits continue without it.
      if (model.state === 'waiting' && !model.canceling) continue;
      if (model.state === 'ready' && !model.canceling) {
        model.state = 'queued';
        continue;
      }
      if (model.canceling) this.finish(model, 'CANCELED');
      else if (model.rescues >= 3) this.finish(model, 'CRASHED');
      else {
        model.rescues++;
        model.state = 'queued';
        model.expiresAt = Number.POSITIVE_INFINITY;
      }
    }
    await this.t.addRunner(by);
  }

  async pass(ms: number): Promise<void> {
    this.t.engine.clock.shift(ms);
    await this.t.promote();
    await this.t.expire();
    const now = this.now;
    await endDueWaits(this.t.engine, 1_000);
    for (const what of this.runs.flatMap(({ waitsFor }) => [...waitsFor]))
      if (typeof what === 'number' && what <= now) this.over(what);
    for (const model of this.runs) {
      if (model.state === 'delayed' && model.due <= this.now) {
        model.state = model.task === 'unknown' ? 'pending_version' : 'queued';
        if (model.attempt === 0 && model.ttl > 0) model.expiresAt = this.now + model.ttl * 1_000;
      } else if (
        (model.state === 'queued' || model.state === 'pending_version') &&
        model.expiresAt <= this.now
      ) {
        this.finish(model, 'EXPIRED');
      }
    }
  }

  /** Stores its ended attempt. */
  keep(model: ModelRun, status: string): void {
    model.attempts.push(`${model.attempt + 1} ${status}`);
  }

  forget(model: ModelRun, fence: number): void {
    this.fences.delete(model.id);
    this.oldFences.push({ run: model.id, fence });
    model.runner = undefined;
  }

  finish(model: ModelRun, status: FinalStatus): void {
    model.state = 'final';
    model.status = status;
    this.over(model.id);
  }

  async check(): Promise<void> {
    const rows = await this.t.sql<{ id: string; status: FinalStatus | null; states: string[] }[]>`
      select r.id, r.status, array_remove(array[
          (select 'queued' from queued q where q.run_id = r.id), (select 'delayed' from delayed d where d.run_id = r.id),
          (select 'pending_version' from pending_version p where p.run_id = r.id), (select 'leased' from leases l where l.run_id = r.id),
          (select case when u.ready_at is null then 'waiting' else 'ready' end from suspended u where u.run_id = r.id),
          case when r.status is not null then 'final' end], null) as states
        from runs r order by r.id`;
    const actual = rows.map(({ id, status, states }) => ({
      id,
      status: status ?? undefined,
      state: states.join('+'),
    }));
    const known = this.runs
      .map(({ id, status, state }) => ({ id, status, state }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(actual).toEqual(known);
    const { sql, environment } = this.t;
    const attempts = new Map<string, string[]>(this.runs.map(({ id }) => [id, []]));
    const ids = this.runs.map(({ id }) => id);
    for (const row of await readAttemptRows(sql, environment.id, ids, new Date(this.now), { limit: 1_000 }))
      attempts.get(row.run_id)?.push(`${row.number} ${row.status}`);
    for (const { id, state, attempt, runner: by, attempts: recorded } of this.runs) {
      const live =
        state === 'leased'
          ? [`${attempt + 1} EXECUTING`]
          : by === undefined
            ? []
            : [`${attempt + 1} WAITING`];
      expect(attempts.get(id), id).toEqual([...recorded, ...live]);
    }
    await checkTables(this.t);
  }
}

async function makeToken({ sql, environment, engine }: TestEngine): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    insert into waitpoints (env, id, created_at)
    values (${environment.id}, 'waitpoint_' || gen_random_uuid(), ${new Date(engine.clock.now())}) returning id`;
  return row?.id ?? '';
}

const completeToken = ({ sql, environment, engine }: TestEngine, id: string) =>
  sql`select complete_token(${new Date(engine.clock.now())}, ${environment.id}, ${id}, null, 'application/json', null)`;

const resumeAll = ({ sql, environment, engine }: TestEngine) =>
  sql<{ run: string }[]>`
    select run_id as run from resume_runs(${environment.id}, ${new Date(engine.clock.now())}, 500)`;

async function checkTables({ sql, engine }: TestEngine): Promise<void> {
  const over = await sql`
    select q.name, l.key, count(*) from leases l join queues q on q.id = l.queue_id
     group by q.id, q.name, l.key having count(*) > coalesce(q.concurrency_override, q.concurrency_limit)`;
  expect(over, 'states over their limit').toHaveLength(0);
  const orphans =
    await sql`select from queued q where not exists (select from lanes l where l.id = q.lane_id)`;
  expect(orphans, 'queued runs without a lane').toHaveLength(0);
  const stuck = await sql`
    select from lanes n join queues q on q.id = n.queue_id
     where n.blocked and not q.paused and coalesce(q.concurrency_override, q.concurrency_limit)
       > (select count(*) from leases l where l.queue_id = n.queue_id and l.key = n.key)`;
  expect(stuck, 'blocked lanes with a free state').toHaveLength(0);
  const doubled = await sql`
    select r.task, r.idempotency_key from runs r
     where r.idempotency_key is not null and (r.status is null or r.status in ('COMPLETED', 'CANCELED'))
     group by 1, 2 having count(*) > 1`;
  expect(doubled, 'runs that share an idempotency key').toHaveLength(0);
  const alive = await sql`
    select a.run_id from attempts a join (
      select env, run_id, fence from leases union all select env, run_id, fence from suspended where runner_id is not null) l
      on l.env = a.env and l.run_id = a.run_id and l.fence = a.fence`;
  expect(alive, 'live attempts stored as ended').toHaveLength(0);
  const overlapping = await sql`
    select from (select started_at, lag(ended_at) over (partition by run_id order by fence) as ended_before from attempts) a
     where a.started_at < a.ended_before`;
  expect(overlapping, 'overlapping attempts').toHaveLength(0);
  const miscounted = await sql`
    select r.id from runs r
     where r.attempt <> (select count(*) from attempts a where a.env = r.env and a.run_id = r.id and a.outcome = 'FAILED')
                        + (r.status is not null and r.last_runner_no is not null)::int`;
  expect(miscounted, 'runs with a wrong number of stored attempts').toHaveLength(0);
  const pushable = await sql`
    select r.task from runs r join delayed d on d.run_id = r.id
     where r.debounce_key is not null and not d.retry and d.due > ${new Date(engine.clock.now())}
     group by r.task, r.debounce_key having count(*) > 1`;
  expect(pushable, 'delayed runs that share a debounce key').toHaveLength(0);
}

/** Time advances only through `shift`, because on a busy machine a second may pass between the engine's action and the model's. */
function standStill(clock: TestEngine['engine']['clock']): void {
  const begin = clock.now();
  let passed = 0;
  clock.now = () => begin + passed;
  clock.shift = (ms) => {
    passed += ms;
  };
}

async function startDrive(): Promise<Drive> {
  const t = await testEngine();
  standStill(t.engine.clock);
  const version = await t.register(
    'free',
    { id: 'limited', queue: { name: 'limited', concurrencyLimit: limits.limited } },
    { id: 'keyed', queue: { name: 'keyed', concurrencyLimit: limits.keyed } },
  );
  await t.addRunner('r1');
  await t.addRunner('r2');
  return new Drive(t, version.id);
}

test(
  'any sequence of operations keeps each run in one state and ends it once',
  { timeout: 120_000 },
  async () => {
    const drive = await startDrive();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
        for (const operation of steps) {
          await drive.do(operation);
          await drive.check();
        }
      }),
      // One database for all sequences. Rows left by earlier sequences are part of the next one's initial state.
      { numRuns: numRuns(8), endOnFailure: true, verbose: 1 },
    );
  },
);

/**
 * About twelve rounds of concurrent operations each, and each round is one interleaving: a full run has 10,000 of them, and
 * `MILLRACE_TEST_SCALE=100` a million.
 */
const concurrentSequences = isLong ? numRuns(850) : 3;

test(
  'concurrent operations preserve the invariants, and every run can still finish',
  { timeout: isLong ? 0 : 120_000 },
  async () => {
    let interleavings = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 2, maxLength: 6 }), { minLength: 5, maxLength: 20 }),
        async (rounds) => {
          const drive = await startDrive();
          const { t } = drive;
          const { sql } = t;
          for (const round of rounds) {
            const live = await sql<{ run: string; fence: string }[]>`
              select run_id as run, fence from leases
              union all select run_id, fence from suspended where runner_id is not null`;
            const tokens = [await makeToken(t), await makeToken(t)];
            const known = await sql<{ id: string; task: string }[]>`select id, task from runs`;
            await Promise.all(
              round.map(async (operation) => {
                const attempt = 'pick' in operation ? live[operation.pick % live.length] : undefined;
                if (operation.act === 'trigger') {
                  await t.trigger(operation.task, optionsOf({ ...operation, delayMs: 0, ttl: 0 }));
                } else if (operation.act === 'claim')
                  await t.claim(operation.runner, [drive.version], operation.want);
                else if (operation.act === 'lose') {
                  await rescueRunner(t, operation.runner, `connection of ${operation.runner}`);
                } else if (operation.act === 'pass') {
                  await Promise.all([t.promote(), t.expire(), endDueWaits(t.engine, 1_000)]);
                } else if (operation.act === 'resume') await resumeAll(t);
                else if (operation.act === 'completeToken')
                  await completeToken(t, tokens[operation.pick % 2] as string);
                else if (operation.act === 'wait') {
                  // For a younger run, so that waits cannot form a cycle.
                  const younger = known.filter(
                    (run) => attempt && run.id > attempt.run && run.task !== 'unknown',
                  );
                  const target =
                    operation.kind === 'RUN'
                      ? younger[operation.target % younger.length]?.id
                      : tokens[operation.target % 2];
                  const until = t.engine.clock.now() + 50;
                  if (!attempt || target === undefined) return;
                  await drive.begin({
                    env: t.environment.id,
                    run: attempt.run,
                    fence: Number(attempt.fence),
                    waits: [
                      operation.kind === 'TIME'
                        ? { key: `time/${until}`, kind: 'TIME', until }
                        : { key: target, kind: operation.kind, target },
                    ],
                  });
                } else if (operation.act === 'cancel') {
                  const target = known[operation.pick % known.length];
                  if (target) await cancelRun(t.engine, t.runners, t.environment.id, target.id);
                } else if (attempt) {
                  await t.end(
                    { run: attempt.run, fence: Number(attempt.fence) },
                    { kind: operation.pick % 2 === 0 ? 'canceled' : 'released' },
                  );
                }
              }),
            );
            for (const by of ['r1', 'r2']) {
              const [row] = await sql`select from runners where id = ${by}`;
              if (!row) await t.addRunner(by);
            }
            await checkStates(t);
            interleavings++;
          }
          await finishAll(drive);
          await t.close();
        },
      ),
      { numRuns: concurrentSequences, endOnFailure: true, verbose: 1 },
    );
    if (isLong) console.info(`${interleavings} interleavings`);
  },
);

async function checkStates(t: TestEngine): Promise<void> {
  const wrong = await t.sql`
    select * from (
      select r.id, r.status,
             (select count(*) from queued q where q.run_id = r.id) + (select count(*) from delayed d where d.run_id = r.id)
             + (select count(*) from pending_version p where p.run_id = r.id) + (select count(*) from leases l where l.run_id = r.id)
             + (select count(*) from suspended u where u.run_id = r.id)
             + (r.status is not null)::int as states
        from runs r) s where states <> 1`;
  expect(wrong, 'runs that are not in exactly one state').toHaveLength(0);
  await checkTables(t);
}

/** No run is lost: with runners that complete every run they receive, every run of a known task ends. */
async function finishAll({ t, version }: Drive): Promise<void> {
  t.engine.clock.shift(60_000);
  await t.promote();
  const tokens = await t.sql<{ id: string }[]>`select id from waitpoints`;
  for (const { id } of tokens) await completeToken(t, id);
  await endDueWaits(t.engine, 1_000);
  for (let idle = 0; idle < 3;) {
    const resumed = await resumeAll(t);
    const live = await t.sql<{ run: string; fence: string }[]>`select run_id as run, fence from leases`;
    await Promise.all(live.map(({ run, fence }) => t.end({ run, fence: Number(fence) })));
    const claimed = await t.claim('r1', [version], 50);
    idle = claimed.length === 0 && live.length === 0 && resumed.length === 0 ? idle + 1 : 0;
  }
  const open = await t.sql<{ task: string }[]>`
    select r.task, q.run_id is not null as queued, l.blocked from runs r
      left join queued q on q.run_id = r.id left join lanes l on l.id = q.lane_id
     where r.status is null and r.task <> 'unknown'`;
  expect([...open]).toEqual([]);
}

test('the transition table has a final status for every way to end, and no transition out of one', () => {
  for (const status of runStatuses) {
    const arrows: readonly RunStatus[] = transitions[status];
    expect(arrows.length === 0).toBe(isFinal(status));
    for (const target of arrows) expect(runStatuses).toContain(target);
  }
});
