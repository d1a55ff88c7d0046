import { column, texts } from '../../db/columns.ts';
import type { Fragment, Sql } from '../../db/connect.ts';
import { groupCommit } from '../../db/group.ts';
import { retry } from '../../db/retry.ts';
import { insertQueuedWith } from '../../runs/create/insert-everyday.ts';
import { KnownFacets } from '../../runs/facets/known-facets.ts';
import { newRuns } from '../../runs/create/new-runs.ts';
import { isEveryday, type NewRun } from '../../runs/create/row.ts';
import { countTriggered } from '../../runs/create/trigger.ts';
import type { Dispatch } from '../../runs/dispatch/dispatch.ts';
import type { Engine } from '../../runs/engine/engine.ts';
import type { Delivery } from './delivery.ts';

/** A delivery to be stored, and the run that it starts, which never resolves to another run. */
export interface NewDelivery {
  readonly delivery: Delivery;
  readonly run: NewRun;
}

export interface Stored {
  /** The first delivery with the sender's id. */
  readonly id: string;
  readonly isDuplicate: boolean;
}

export interface StoreDependencies {
  readonly engine: Engine;
  readonly dispatch: Pick<Dispatch, 'wake'>;
}

const maxShared = 200;
/** Together, larger bodies would make one statement too large. */
const maxSharedBytes = 4_194_304;

interface Store {
  readonly engine: Engine;
  readonly facets: KnownFacets;
}

/**
 * Stores deliveries and creates their runs in one commit. The sender's id decides: the first request with an id is stored, and every later
 * one resolves to it. Concurrent calls share a commit.
 */
export function createStore({ engine, dispatch }: StoreDependencies): (item: NewDelivery) => Promise<Stored> {
  const to: Store = { engine, facets: new KnownFacets() };
  return groupCommit<NewDelivery, Stored>(
    async (items) => {
      const stored = await storeUntilFound(to, items);
      const woken = new Set<number>();
      for (const [index, { run }] of items.entries()) {
        if (stored[index]?.isDuplicate !== false) continue;
        countTriggered(engine, run);
        woken.add(run.env);
      }
      for (const env of woken) dispatch.wake(env);
      return stored;
    },
    { maxItems: maxShared, maxSize: maxSharedBytes, sizeOf: ({ delivery }) => delivery.body.length },
  );
}

const keyOf = (env: number, webhook: string, senderId: string): string => `${env} ${webhook} ${senderId}`;
const keyOfItem = ({ run, delivery }: NewDelivery): string =>
  keyOf(run.env, delivery.webhook, delivery.senderId);

/** A delivery with the same sender's id was pruned while this one was stored. */
class Gone extends Error {}

const storeUntilFound = (store: Store, items: readonly NewDelivery[]): Promise<Stored[]> =>
  retry(() => storeDeliveries(store, items), { when: (error) => error instanceof Gone, maxTries: 5 });

async function storeDeliveries(store: Store, items: readonly NewDelivery[]): Promise<Stored[]> {
  const firsts = new Map<string, NewDelivery>();
  for (const item of items) if (!firsts.has(keyOfItem(item))) firsts.set(keyOfItem(item), item);
  const distinct = [...firsts.values()];
  const created = new Set(await insertDeliveries(store, distinct));
  const existing = await readExisting(
    store.engine.sql,
    distinct.filter(({ run }) => !created.has(run.id)),
  );
  return items.map((item) => {
    const key = keyOfItem(item);
    const first = firsts.get(key) as NewDelivery;
    return { id: existing.get(key) ?? first.delivery.id, isDuplicate: item !== first || existing.has(key) };
  });
}

/**
 * Stores the deliveries that are new, and creates their runs: one statement, so that an answer waits for one round trip. It is that of
 * everyday triggers if all runs are such (decision 47). Returns the ids of the runs.
 */
async function insertDeliveries(
  { engine, facets }: Store,
  items: readonly NewDelivery[],
): Promise<readonly string[]> {
  const runs = items.map(({ run }) => run);
  if (runs.every((run) => isEveryday(run) && facets.has(run))) {
    const created = await insertQueuedWith(engine, runs, (condition) =>
      insertion(engine.sql, items, condition),
    );
    if (created) return created;
  }
  const created = await insertByGeneralPath(engine, items);
  const ids = new Set(created);
  for (const run of runs) if (ids.has(run.id)) facets.add(run);
  return created;
}

async function insertByGeneralPath(
  { sql, clock }: Engine,
  items: readonly NewDelivery[],
): Promise<readonly string[]> {
  const runs = items.map(({ run }) => run);
  const rows = await sql<{ run: string }[]>`
    with stored as (${insertion(sql, items)}), created as (
      select count(*) from create_runs(
        ${new Date(clock.now())}::timestamptz,
        array(select r from unnest(${newRuns(sql, runs)}) as r where r.id in (select run from stored)), false, false)
    )
    select run, (select count from created) from stored`;
  return rows.map(({ run }) => run);
}

/** A statement that stores the deliveries that are new, if the condition holds, and returns the ids of their runs. */
const insertion = (sql: Sql, items: readonly NewDelivery[], condition = sql`true`): Fragment => sql`
  insert into webhook_deliveries (env, webhook, sender_id, id, headers, body, run_ids, created_at)
  select d.env, d.webhook, d.sender_id, d.id, d.headers, d.body, array[d.run], d.created_at
    from unnest(${column(items, ({ run }) => run.env)}::int[],
                ${column(items, ({ delivery }) => delivery.webhook)}::text[],
                ${column(items, ({ delivery }) => delivery.senderId)}::text[],
                ${column(items, ({ delivery }) => delivery.id)}::text[],
                ${texts(sql, items, ({ delivery }) => JSON.stringify(delivery.headers))},
                ${items.map(({ delivery }) => delivery.body)}::bytea[],
                ${column(items, ({ run }) => run.id)}::text[],
                ${column(items, ({ delivery }) => delivery.receivedAt)}::timestamptz[])
           as d (env, webhook, sender_id, id, headers, body, run, created_at)
   where ${condition}
   order by d.env, d.webhook, d.sender_id
  on conflict do nothing
  returning run_ids[1] as run`;

/** The ids of earlier deliveries. A separate statement: the one before may have waited for another that stored the delivery. */
async function readExisting(sql: Sql, items: readonly NewDelivery[]): Promise<Map<string, string>> {
  if (items.length === 0) return new Map();
  const rows = await sql<{ env: number; webhook: string; sender_id: string; id: string }[]>`
    select d.env, d.webhook, d.sender_id, d.id
      from unnest(${items.map(({ run }) => run.env)}::int[], ${items.map(({ delivery }) => delivery.webhook)}::text[],
                  ${items.map(({ delivery }) => delivery.senderId)}::text[]) as i (env, webhook, sender_id)
      join webhook_deliveries d on d.env = i.env and d.webhook = i.webhook and d.sender_id = i.sender_id`;
  if (rows.length < items.length) throw new Gone();
  return new Map(rows.map((row) => [keyOf(row.env, row.webhook, row.sender_id), row.id]));
}
