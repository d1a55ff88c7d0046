import type { Assignment } from '@millrace/contract/runner';
import type { Clock } from '../../db/clock.ts';
import { column, type Value } from '../../db/columns.ts';
import type { Queryable } from '../../db/connect.ts';
import { groupCommit } from '../../db/group.ts';
import { Problem } from '../../problem.ts';
import type { Dispatch } from '../dispatch/dispatch.ts';
import type { Engine } from '../engine.ts';
import { insertLeased, insertQueued, isPlain, NotedFacets } from './insert-fast.ts';
import { refusedParent, type ParentRefusal } from './parent.ts';
import type { NewRun } from './row.ts';
import { triggerOnce } from './trigger-once.ts';
import { isOfOneParent, withoutDuplicates } from './duplicates.ts';

export interface Triggered {
  readonly id: string;
  readonly isCached: boolean;
}

/**
 * Creates runs. Concurrent calls share a statement and a commit; when a runner of this process waits for just such a run and
 * nobody is ahead, the run is leased to it in that same commit.
 */
export function createTrigger(engine: Engine, dispatch: Dispatch): (run: NewRun) => Promise<Triggered> {
  const noted = new NotedFacets();
  const grouped = groupCommit<NewRun, Written>((runs) => writeRuns(engine, dispatch, noted, runs));
  return async (run) => {
    if (run.oneTime) return triggerOnce(engine, dispatch, run, run.oneTime);
    const triggered = await grouped(run);
    if (triggered instanceof Problem) throw triggered;
    return triggered;
  };
}

/** A run that is refused leaves its company as it is. */
type Written = Triggered | Problem;

async function writeRuns(
  engine: Engine,
  dispatch: Dispatch,
  noted: NotedFacets,
  calls: readonly NewRun[],
): Promise<Written[]> {
  // An idempotency key is kept with whatever run a debounced trigger comes to: it goes without company.
  if (calls.length > 1 && calls.some((call) => call.debounce && call.idempotencyKey !== null)) {
    const alone: Written[] = [];
    for (const call of calls) alone.push(...(await writeRuns(engine, dispatch, noted, [call])));
    return alone;
  }
  const { runs, places } = withoutDuplicates(calls);
  const offers = runs.map((run) =>
    run.state === 'queued' && run.route === 0 ? dispatch.offer(run.env) : undefined,
  );
  let rows: TriggerRow[];
  try {
    const plain = await insertPlainly(engine, noted, runs, offers).catch(metsItself);
    rows =
      plain ??
      (await insertRuns(engine, runs, offers).catch(metsItself)) ??
      // Now what it met is there to be seen.
      (await insertRuns(engine, runs, offers));
    if (!plain) {
      for (const row of rows) {
        const run = runs[row.ix - 1] as NewRun;
        // Where the call led to an earlier run, none was created and nothing noted of it.
        if (row.run_id === run.id) noted.add(run);
      }
    }
  } catch (error) {
    for (const offer of offers) offer?.decline();
    throw error;
  }
  const results: Written[] = [];
  const queuedIn = new Set<number>();
  for (const row of rows) {
    const place = row.ix - 1;
    const run = runs[place] as NewRun;
    const offer = offers[place];
    const refused = row.refused !== null && refusedParent(row.refused, run.parentId ?? '');
    results[place] = refused || { id: row.run_id, isCached: row.cached };
    if (row.fence !== null && offer) {
      offer.accept(handOff(engine, { ...run, rootId: row.root }, Number(row.fence), offer.version));
      continue;
    }
    offer?.decline();
    if (row.cached || refused) continue;
    if (run.state === 'queued') queuedIn.add(run.env);
    if (run.due) dispatch.expect(run.due.getTime());
  }
  for (const env of queuedIn) dispatch.wake(env);
  // What is refused for its parent's sake says nothing of a twin that has another parent.
  const isApart = (call: NewRun, index: number): boolean => {
    const place = places[index] as number;
    return results[place] instanceof Problem && !isOfOneParent(runs[place] as NewRun, call);
  };
  const apart = calls.filter(isApart);
  const again = apart.length > 0 ? (await writeRuns(engine, dispatch, noted, apart)).values() : undefined;
  const answered = new Set<number>();
  return calls.map((call, index) => {
    const place = places[index] as number;
    const result = results[place] as Written;
    if (result instanceof Problem) return isApart(call, index) ? (again?.next().value as Written) : result;
    // Only an idempotency key says of what it finds that it was there, and not to the same request sent again.
    const isRepeated = call.requestKey !== undefined && call.requestKey === runs[place]?.requestKey;
    const isFirst = !answered.has(place) || call.idempotencyKey === null || isRepeated;
    answered.add(place);
    return isFirst ? result : { id: result.id, isCached: true };
  });
}

/** A request that was sent before: its run is there already, and only the general way leads to it. */
function metsItself(error: unknown): undefined {
  if (error instanceof Error && 'constraint' in error && error.constraint === 'runs_by_request')
    return undefined;
  throw error;
}

/** The everyday cases; undefined when these runs are none, and then nothing was written. */
async function insertPlainly(
  engine: Engine,
  noted: NotedFacets,
  runs: readonly NewRun[],
  offers: readonly (Offer | undefined)[],
): Promise<TriggerRow[] | undefined> {
  if (!runs.every((run) => isPlain(run) && noted.has(run))) return undefined;
  const [offer] = offers;
  const [first] = runs;
  if (offer && first && runs.length === 1) {
    const fence = await insertLeased(engine, first, offer);
    return fence === undefined ? undefined : [{ ...plainly, ix: 1, run_id: first.id, fence: String(fence) }];
  }
  if (offers.some((one) => one !== undefined) || !(await insertQueued(engine, runs))) return undefined;
  return runs.map((run, index) => ({ ...plainly, ix: index + 1, run_id: run.id, fence: null }));
}

const plainly = { cached: false, root: null, refused: null } as const;

interface TriggerRow {
  readonly ix: number;
  readonly run_id: string;
  readonly cached: boolean;
  readonly fence: string | null;
  readonly root: string | null;
  readonly refused: ParentRefusal | null;
}

type Offer = NonNullable<ReturnType<Dispatch['offer']>>;

/** One statement for any number of runs, alone or inside a transaction of the caller's. */
export function insertRuns(
  { sql, clock }: { readonly sql: Queryable; readonly clock: Pick<Clock, 'now'> },
  runs: readonly NewRun[],
  offers: readonly (Offer | undefined)[] = [],
): Promise<TriggerRow[]> {
  const pick = (read: (run: NewRun) => Value) => column(runs, read);
  return sql<TriggerRow[]>`
    select * from trigger_runs(
      ${new Date(clock.now())},
      ${pick((run) => run.env)}::int[],
      ${pick((run) => run.id)}::text[],
      ${pick((run) => run.task)}::text[],
      ${pick((run) => run.state)}::text[],
      ${pick((run) => run.queueId)}::int[],
      ${pick((run) => run.key)}::text[],
      ${pick((run) => run.route)}::int[],
      ${pick((run) => run.ord)}::bigint[],
      ${pick((run) => run.payload)}::text[],
      ${pick((run) => run.payloadType)}::text[],
      ${pick((run) => run.expiresAt)}::timestamptz[],
      ${pick((run) => run.ttl)}::int[],
      ${pick((run) => run.due)}::timestamptz[],
      ${pick((run) => run.idempotencyKey)}::text[],
      ${pick((run) => run.idempotencyExpiresAt)}::timestamptz[],
      ${pick((run) => run.idempotencyOptions)}::text[]::jsonb[],
      ${pick((run) => (run.tags.length > 0 ? JSON.stringify(run.tags) : null))}::text[]::jsonb[],
      ${pick((run) => run.metadata)}::text[],
      ${pick((run) => run.maxAttempts)}::int[],
      ${pick((run) => run.maxDuration)}::int[],
      ${pick((run) => run.machine)}::text[],
      ${pick((run) => run.priorityMs || null)}::int[],
      ${pick((run) => run.test || null)}::text[]::boolean[],
      ${pick((run) => run.parentId)}::text[],
      ${pick((run) => run.rootId)}::text[],
      ${pick((run) => run.depth || null)}::smallint[],
      ${column(offers, (offer) => offer?.runner)}::text[],
      ${column(offers, (offer) => offer?.version)}::int[],
      ${pick((run) => run.scheduleId)}::text[],
      ${pick((run) => run.event)}::text[],
      ${pick((run) => run.batch)}::text[],
      ${pick((run) => run.requestKey)}::uuid[],
      ${pick((run) => run.debounce?.key)}::text[],
      ${pick((run) => run.debounce?.maxMs)}::bigint[],
      ${pick((run) => run.debounce?.trailing)}::text[]::boolean[],
      ${pick((run) => run.replayOf)}::text[],
      ${pick((run) => run.region)}::text[],
      ${pick((run) => run.parentFence)}::bigint[])`;
}

/** What the runner is told of a run that goes straight to it: all of it is known here, nothing is read. */
async function handOff(engine: Engine, run: NewRun, fence: number, version: number): Promise<Assignment> {
  return {
    run: run.id,
    fence,
    attempt: 1,
    task: run.task,
    version: await engine.versions.name(version),
    payload: run.payload,
    payloadType: run.payloadType ?? 'application/json',
    metadata: run.metadata,
    tags: run.tags,
    isTest: run.test,
    queue: await engine.queues.name(run.queueId),
    concurrencyKey: run.key === '' ? null : run.key,
    maxAttempts: run.maxAttempts,
    maxDuration: run.maxDuration,
    machine: run.machine,
    priority: run.priorityMs / 1_000,
    createdAt: engine.clock.now(),
    parentRun: run.parentId,
    rootRun: run.rootId,
    batch: null,
    schedule: run.scheduleId ?? null,
    event: run.event ?? null,
  };
}
