import { groupCommit } from '../../db/group.ts';
import { Problem } from '../../problem.ts';
import type { Dispatch, Offer } from '../dispatch/dispatch.ts';
import type { Engine } from '../engine/engine.ts';
import { isOfOneParent, withoutDuplicates } from './duplicates.ts';
import { assignmentOf } from './hand-off.ts';
import { insertLeased, insertQueued } from './insert-everyday.ts';
import { insertRuns } from './insert.ts';
import { KnownFacets } from '../facets/known-facets.ts';
import { replayFromStep } from '../steps/replay.ts';
import { refusedParent } from './parent.ts';
import { redactMetadata, type FindRedactor } from './redact-metadata.ts';
import { inserted, isEveryday, type InsertedRow, type NewRun } from './row.ts';
import { exceededLimit } from './trigger-limit.ts';
import { triggerOnce } from './trigger-once.ts';

export interface TriggerDependencies {
  readonly engine: Engine;
  readonly dispatch: Dispatch;
  readonly redactor: FindRedactor;
  /** Notifies subscribers of the run's tags. `id` is the run that the trigger resolved to. */
  readonly published: (run: NewRun, id: string) => void;
}

export interface Triggered {
  readonly id: string;
  readonly isCached: boolean;
  /** Dropped by its trigger limit, without a run. The id is empty. */
  readonly isDropped?: true;
}

/** Creates runs. A trigger has these steps, in order: redact its metadata, write it, publish its tags. */
export function createTrigger(dependencies: TriggerDependencies): (run: NewRun) => Promise<Triggered> {
  const { engine, dispatch, redactor, published } = dependencies;
  const writer: Writer = { engine, dispatch, facets: new KnownFacets() };
  const write = groupCommit<NewRun, Written>((runs) => writeRuns(writer, runs), {
    onWrite: (items) => engine.stats.wrote('trigger', items),
  });

  return async (input) => {
    const run = input.metadata === null ? input : await redactMetadata(redactor, input);
    const written: Written = await (run.oneTime
      ? triggerOnce(engine, dispatch, run, run.oneTime)
      : run.fromStep === undefined
        ? write(run)
        : replayFromStep(engine, dispatch, run, run.fromStep));
    if (written instanceof Problem) throw written;
    if (!written.isDropped) published(run, written.id);
    return written;
  };
}

interface Writer {
  readonly engine: Engine;
  readonly dispatch: Dispatch;
  readonly facets: KnownFacets;
}

/** A rejected trigger does not make the others in its flush fail. */
type Written = Triggered | Problem;

/**
 * The idempotency key of a debounced trigger is stored with the run it resolves to. A singleton with `replace` cancels runs, whose locks do
 * not follow the order of other triggers.
 */
const isWrittenAlone = ({ debounce, idempotencyKey, singleton }: NewRun): boolean =>
  (debounce !== undefined && idempotencyKey !== null) || singleton?.onConflict === 'replace';

/** Writes the triggers of one flush: one statement and one commit, unless they conflict with each other. */
async function writeRuns(writer: Writer, triggers: readonly NewRun[]): Promise<Written[]> {
  if (triggers.length > 1 && triggers.some(isWrittenAlone)) {
    const alone: Written[] = [];
    for (const run of triggers) alone.push(...(await writeRuns(writer, [run])));
    return alone;
  }
  const { runs, indexes } = withoutDuplicates(triggers);
  const results = await writeDistinct(writer, runs);

  // A rejection depends on a run's parent, so duplicates with a different parent are written separately.
  const isApart = (trigger: NewRun, index: number): boolean =>
    results[index] instanceof Problem && !isOfOneParent(runs[index] as NewRun, trigger);
  const apart = triggers.filter((trigger, position) => isApart(trigger, indexes[position] as number));
  const others = apart.length > 0 ? (await writeRuns(writer, apart)).values() : undefined;

  const answered = new Set<number>();
  return triggers.map((trigger, position) => {
    const index = indexes[position] as number;
    if (isApart(trigger, index)) return others?.next().value as Written;
    const result = results[index] as Written;
    if (result instanceof Problem) return result;
    // `isCached` means that an idempotency key resolved to an existing run. It is not set for a request that is resent.
    const isRepeated = trigger.requestKey !== undefined && trigger.requestKey === runs[index]?.requestKey;
    const isFirst = !answered.has(index) || trigger.idempotencyKey === null || isRepeated;
    answered.add(index);
    return isFirst ? result : { id: result.id, isCached: true };
  });
}

/** Writes distinct runs, and starts the next step: a hand-off to a runner, a claim, or a promotion. */
async function writeDistinct(
  { engine, dispatch, facets }: Writer,
  runs: readonly NewRun[],
): Promise<Written[]> {
  const offers = runs.map((run) =>
    run.state === 'queued' ? dispatch.offer(run.env, run.pinnedVersion) : undefined,
  );
  const rows = await insert(engine, facets, runs, offers).catch((error: unknown) => {
    for (const offer of offers) offer?.decline();
    throw error;
  });
  const results: Written[] = [];
  const queuedIn = new Set<number>();
  for (const [index, row] of rows.entries()) {
    const run = runs[index] as NewRun;
    const offer = offers[index];
    const refused = row.refused !== null && refusalOf(row.refused, run);
    results[index] = refused || { id: row.run_id, isCached: row.cached };
    if (row.run_id === run.id) countTriggered(engine, run, { isHandedOver: row.fence !== null });
    if (row.fence !== null && offer) {
      const lease = { fence: Number(row.fence), version: offer.version, root: row.root_id };
      offer.accept(assignmentOf(engine, run, lease));
      continue;
    }
    offer?.decline();
    if (row.cached || refused) continue;
    if (run.state === 'queued') queuedIn.add(run.env);
    if (run.due) dispatch.expect(run.due.getTime());
  }
  for (const env of queuedIn) dispatch.wake(env);
  return results;
}

const dropped: Triggered = { id: '', isCached: false, isDropped: true };

function refusalOf(refused: string, run: NewRun): Written {
  const exceeded = exceededLimit(refused, run);
  return exceeded === 'dropped' ? dropped : (exceeded ?? refusedParent(refused, run.parentId ?? ''));
}

/** Counts a created run for statistics. One that was handed to a runner in the same commit does not wait. */
export function countTriggered(
  { stats, queues, clock }: Pick<Engine, 'stats' | 'queues' | 'clock'>,
  run: NewRun,
  { isHandedOver = false }: { readonly isHandedOver?: boolean } = {},
): void {
  const name = queues.name(run.queueId);
  const subject = { env: run.env, task: run.task, queue: typeof name === 'string' ? name : undefined };
  const now = clock.now();
  stats.count(subject, 'triggered', now);
  if (isHandedOver) stats.started(subject, 0, now);
}

type Offers = readonly (Offer | undefined)[];

/** Uses the fast path if all runs are everyday runs, otherwise the general path. */
async function insert(
  engine: Engine,
  facets: KnownFacets,
  triggers: readonly NewRun[],
  offers: Offers,
): Promise<readonly InsertedRow[]> {
  if (triggers.every((run) => isEveryday(run) && facets.has(run))) {
    const rows = await insertEveryday(engine, triggers, offers).catch(ignoreRepeatedRequest);
    if (rows) return rows;
  }
  const runs = triggers.map((run, index) => (offers[index] ? { ...run, offer: offers[index] } : run));
  const rows =
    (await insertRuns(engine, runs, { isCounted: true, findRequests: false }).catch(ignoreRepeatedRequest)) ??
    (await insertRuns(engine, runs, { isCounted: true }));
  for (const [index, run] of runs.entries()) if (rows[index]?.run_id === run.id) facets.add(run);
  return rows;
}

/** Undefined if the fast path wrote nothing. */
async function insertEveryday(
  engine: Engine,
  runs: readonly NewRun[],
  offers: Offers,
): Promise<InsertedRow[] | undefined> {
  const [first] = runs;
  const [offer] = offers;
  if (first && offer && runs.length === 1) {
    const fence = await insertLeased(engine, first, offer);
    return fence === undefined ? undefined : [{ ...inserted(first), fence: String(fence) }];
  }
  if (offers.some((each) => each !== undefined) || !(await insertQueued(engine, runs))) return undefined;
  return runs.map(inserted);
}

/** Requests are rarely sent twice, so a repetition is looked up only if the insertion fails because of it. */
function ignoreRepeatedRequest(error: unknown): undefined {
  if (error instanceof Error && 'constraint' in error && error.constraint === 'runs_by_request')
    return undefined;
  throw error;
}
