import type { NewEvent, SentEvent } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import { column, type Value } from '../db/columns.ts';
import type { Transaction } from '../db/connect.ts';
import { groupCommit } from '../db/group.ts';
import { allInTurns, mapInTurns } from '../json/turns.ts';
import type { Dispatch } from '../runs/dispatch/dispatch.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { completeWaits, type DeliveredEvent } from './complete-waits.ts';
import { makeRuns, planDelivery, type Plan } from './plan.ts';
import { isDifferent, prepareEvent } from './prepare.ts';
import { sentOf, type EventRow, type NewEventRow } from './row.ts';

export interface SendDependencies {
  readonly engine: Engine;
  readonly dispatch: Pick<Dispatch, 'wake'>;
  /** An event is due at this time. */
  readonly expect: (at: number) => void;
  /** Runs of this environment may continue. */
  readonly resume: (env: number) => void;
}

/** An event to be stored. */
export interface Sending {
  readonly environment: Environment;
  readonly row: NewEventRow;
  /** The event as sent by the client. */
  readonly sent: NewEvent['event'];
}

export type Send = (sending: Sending) => Promise<SentEvent>;

export const sendingOf = (environment: Environment, event: NewEvent, now: number): Sending => ({
  environment,
  row: prepareEvent(environment.id, event, now),
  sent: event.event,
});

/** Larger events are written individually, because many of them would make one statement too large. */
const maxSharedCharacters = 65_536;
const maxShared = 200;

/**
 * Stores events and creates the runs that they start, in one transaction. Events are identified by id: the first call stores the event, and
 * every other call gets the stored one. Concurrent calls share a transaction.
 */
export function createSend(dependencies: SendDependencies): Send {
  const store = (sendings: readonly Sending[]) => storeEvents(dependencies, sendings);
  const grouped = groupCommit<Sending, SentEvent>(store, { maxItems: maxShared });
  return async (sending) => {
    if (sending.row.text.length <= maxSharedCharacters) return grouped(sending);
    const [stored] = await store([sending]);
    return stored as SentEvent;
  };
}

async function storeEvents(
  { engine, dispatch, expect, resume }: SendDependencies,
  calls: readonly Sending[],
): Promise<SentEvent[]> {
  const { firsts, indexes } = withoutDuplicates(calls);
  const { stored, existing, resumed } = await settled(engine, firsts);
  const woken = new Set<number>();
  for (const [index, { row, runs }] of stored) {
    if (runs > 0) woken.add(firsts[index]?.row.env as number);
    if (row.deliver_at && !row.delivered_at) expect(row.deliver_at.getTime());
  }
  for (const env of woken) dispatch.wake(env);
  for (const env of resumed) resume(env);

  const answered = new Set<number>();
  return mapInTurns(calls, (call, position): SentEvent => {
    const index = indexes[position] as number;
    const fresh = stored.get(index);
    const row = (fresh?.row ?? existing.get(index)) as EventRow;
    if (fresh && !answered.has(index)) {
      answered.add(index);
      return { ...sentOf(row), isDuplicate: false };
    }
    const reply = sentOf(row);
    return { ...reply, isDuplicate: true, isDifferent: isDifferent(call.sent, call.row, reply.event) };
  });
}

/** Events with one id in one flush are one event. `indexes` has, for each call, the index of its event. */
function withoutDuplicates(calls: readonly Sending[]): {
  firsts: readonly Sending[];
  indexes: readonly number[];
} {
  const first = new Map<string, number>();
  const firsts: Sending[] = [];
  const indexes = calls.map((call) => {
    const identity = `${call.row.env} ${call.row.id}`;
    const duplicate = first.get(identity);
    if (duplicate !== undefined) return duplicate;
    first.set(identity, firsts.length);
    return firsts.push(call) - 1;
  });
  return { firsts, indexes };
}

interface Written {
  /** Newly stored events, by index. */
  readonly stored: ReadonlyMap<number, { readonly row: EventRow; readonly runs: number }>;
  /** Previously stored events, by index. */
  readonly existing: ReadonlyMap<number, EventRow>;
  /** Environments whose runs waited for one of the events. */
  readonly resumed: ReadonlySet<number>;
}

const maxTries = 5;

/**
 * Plans and writes, and repeats both if another version became current in between: an event uses the version that is current when it is stored.
 */
async function settled(engine: Engine, sendings: readonly Sending[]): Promise<Written> {
  for (let tries = 1; ; tries++) {
    const plans = await allInTurns(sendings, async ({ environment, row }) =>
      row.deliverAt ? undefined : planDelivery(engine, { environment, ...row }),
    );
    try {
      return await engine.sql.begin((tx) => write(tx, engine, sendings, plans));
    } catch (error) {
      if (!(error instanceof Moved) || tries === maxTries) throw error;
      engine.versions.forget(error.env);
    }
  }
}

/** The plan is outdated: another version is current, or the event that had the id is gone. */
class Moved extends Error {
  readonly env: number;
  constructor(env: number) {
    super('the environment changed while an event was stored');
    this.env = env;
  }
}

interface StoredRow extends EventRow {
  readonly version: number | null;
  /** Whether a token may be waiting for an event with its name. */
  readonly awaited: boolean;
}

async function write(
  tx: Transaction,
  engine: Engine,
  sendings: readonly Sending[],
  plans: readonly (Plan | undefined)[],
): Promise<Written> {
  const now = new Date(engine.clock.now());
  const pick = (read: (row: NewEventRow, plan: Plan | undefined) => Value) =>
    column(sendings, ({ row }) => read(row, planOf.get(row)));
  const planOf = new Map(sendings.map(({ row }, index) => [row, plans[index]]));
  const rows = await tx<StoredRow[]>`
    with stored as (
      insert into events (env, id, name, event, deliver_at, delivered_at, run_ids, replay_of, created_at)
      select i.env, i.id, i.name, i.event, i.deliver_at, case when i.deliver_at is null then ${now}::timestamptz end,
             coalesce(string_to_array(i.runs, ','), '{}'), i.replay_of, ${now}
        from unnest(${pick((row) => row.env)}::int[], ${pick((row) => row.id)}::text[], ${pick((row) => row.name)}::text[],
                    ${pick((row) => row.text)}::text[], ${pick((row) => row.deliverAt)}::timestamptz[],
                    ${pick((_, plan) => (plan && plan.runs.length > 0 ? plan.runs.map((run) => run.id).join(',') : null))}::text[],
                    ${pick((row) => row.replayOf)}::text[])
               as i (env, id, name, event, deliver_at, runs, replay_of)
       order by i.env, i.id
      on conflict do nothing
      returning *
    ), waiting as (
      insert into pending_events (env, id, due) select env, id, deliver_at from stored where delivered_at is null
    )
    select s.*, (select c.version_id from current_versions c where c.env = s.env) as version,
           s.delivered_at is not null and exists (select from event_waits w where w.env = s.env and w.name = s.name) as awaited
      from stored s`;

  const fresh = new Map(rows.map((row) => [`${row.env} ${row.id}`, row]));
  const stored = new Map<number, { row: EventRow; runs: number }>();
  const awaited: DeliveredEvent[] = [];
  const missing: number[] = [];
  for (const [index, { row }] of sendings.entries()) {
    const found = fresh.get(`${row.env} ${row.id}`);
    const plan = plans[index];
    if (!found) missing.push(index);
    else if (plan && plan.version !== found.version) throw new Moved(row.env);
    else {
      stored.set(index, { row: found, runs: plan?.runs.length ?? 0 });
      if (found.awaited && row.name !== null) awaited.push({ ...row, name: row.name });
    }
  }
  const resumed = await completeWaits(tx, awaited, now);
  const answering = await makeRuns(
    tx,
    engine,
    [...stored.keys()].flatMap((index) => plans[index]?.runs ?? []),
  );
  for (const [index, { row }] of stored) {
    const planned = plans[index]?.runs.map(({ id }) => id) ?? [];
    const ids = planned.map((id) => answering.get(id) ?? id);
    // Only tasks with a singleton resolve to existing runs.
    if (ids.every((id, position) => id === planned[position])) continue;
    await tx`update events set run_ids = ${ids} where env = ${row.env} and id = ${row.id}`;
    stored.set(index, { row: { ...row, run_ids: ids }, runs: ids.length });
  }
  return { stored, existing: await readExisting(tx, sendings, missing), resumed };
}

/**
 * The events stored under ids that were already in use. This is a separate statement, because the previous one may have waited for another
 * that stored the event.
 */
async function readExisting(
  tx: Transaction,
  sendings: readonly Sending[],
  indexes: readonly number[],
): Promise<Map<number, EventRow>> {
  if (indexes.length === 0) return new Map();
  const keys = indexes.map((index) => (sendings[index] as Sending).row);
  const rows = await tx<EventRow[]>`
    select e.* from unnest(${keys.map((row) => row.env)}::int[], ${keys.map((row) => row.id)}::text[]) as i (env, id)
      join events e on e.env = i.env and e.id = i.id`;
  const found = new Map(rows.map((row) => [`${row.env} ${row.id}`, row]));
  return new Map(
    indexes.map((index) => {
      const { env, id } = (sendings[index] as Sending).row;
      const row = found.get(`${env} ${id}`);
      if (!row) throw new Moved(env);
      return [index, row];
    }),
  );
}
