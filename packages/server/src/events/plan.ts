import type { Environment } from '../auth/principal.ts';
import type { Transaction } from '../db/connect.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { prepareRun } from '../runs/create/prepare.ts';
import type { NewRun } from '../runs/create/row.ts';
import { insertRuns } from '../runs/create/insert.ts';
import { subscriptionsOf } from './subscriptions.ts';

/** An event to be delivered. */
export interface Deliverable {
  readonly environment: Environment;
  readonly id: string;
  readonly name: string | null;
  readonly event: Readonly<Record<string, unknown>>;
  readonly replayOf: string | null;
}

/** The runs that an event creates under the current version, as cached by this process. */
export interface Plan {
  /** Null if no version is registered. */
  readonly version: number | null;
  readonly runs: readonly NewRun[];
}

/** One run for each task of the current version whose subscription matches. */
export async function planDelivery(engine: Engine, deliverable: Deliverable): Promise<Plan> {
  const { environment, id, name, event, replayOf } = deliverable;
  const known = engine.versions.current(environment.id);
  const current = known instanceof Promise ? await known : known;
  if (!current) return { version: null, runs: [] };
  const tasks = name === null ? [] : subscriptionsOf(current).matching(name, event['payload']);
  if (tasks.length === 0) return { version: current.id, runs: [] };
  // Identical for every run.
  const payload = event['payload'] === undefined ? null : JSON.stringify(event['payload']);
  const { timestamp, source, context } = event;
  const eventText = JSON.stringify({
    id,
    name,
    timestamp,
    source,
    context,
    ...(replayOf !== null && { replayOf }),
  });
  const runs: NewRun[] = [];
  for (const task of tasks) {
    const prepared = prepareRun(engine, environment, task, {});
    const run = prepared instanceof Promise ? await prepared : prepared;
    runs.push({ ...run, payload, payloadType: null, event: eventText });
  }
  return { version: current.id, runs };
}

/** How many runs an event would create now, according to this process's cache. */
export async function countRuns(
  engine: Engine,
  { environment, name, event }: Pick<Deliverable, 'environment' | 'name' | 'event'>,
): Promise<number> {
  const current = await engine.versions.current(environment.id);
  if (!current || name === null) return 0;
  return subscriptionsOf(current).matching(name, event['payload']).length;
}

const maxRunsAtOnce = 1_000;
const maxCharactersAtOnce = 8_000_000;

/**
 * Creates the runs in the caller's transaction, in several statements if there are many or they are large. Returns the run that each resolved
 * to, by id: for tasks with a singleton it may be an existing one.
 */
export async function makeRuns(
  tx: Transaction,
  { clock }: Engine,
  runs: readonly NewRun[],
): Promise<Map<string, string>> {
  const created = new Map<string, string>();
  let group: NewRun[] = [];
  let characters = 0;
  for (const [index, run] of runs.entries()) {
    group.push(run);
    characters += (run.payload?.length ?? 0) + (run.event?.length ?? 0);
    if (group.length < maxRunsAtOnce && characters < maxCharactersAtOnce && index < runs.length - 1) continue;
    const rows = await insertRuns({ sql: tx, clock }, group);
    for (const [at, { run_id }] of rows.entries()) created.set((group[at] as NewRun).id, run_id);
    group = [];
    characters = 0;
  }
  return created;
}
