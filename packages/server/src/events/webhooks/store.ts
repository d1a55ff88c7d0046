import { column, texts } from '../../db/columns.ts';
import type { Transaction } from '../../db/connect.ts';
import { groupCommit } from '../../db/group.ts';
import { makeRuns } from '../plan.ts';
import type { NewRun } from '../../runs/create/row.ts';
import type { Dispatch } from '../../runs/dispatch/dispatch.ts';
import type { Engine } from '../../runs/engine/engine.ts';
import type { Delivery } from './delivery.ts';

/** A delivery to be stored, and the run that it starts. */
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

/**
 * Stores deliveries and creates their runs, in one transaction. The sender's id decides: the first request with an id is stored, and every later
 * one resolves to it. Concurrent calls share a transaction.
 */
export const createStore = ({ engine, dispatch }: StoreDependencies) =>
  groupCommit<NewDelivery, Stored>(
    async (items) => {
      const stored = await storeUntilFound(engine, items);
      const woken = new Set(
        items.flatMap(({ run }, index) => (stored[index]?.isDuplicate === false ? [run.env] : [])),
      );
      for (const env of woken) dispatch.wake(env);
      return stored;
    },
    { maxItems: maxShared, maxSize: maxSharedBytes, sizeOf: ({ delivery }) => delivery.body.length },
  );

const keyOf = (env: number, webhook: string, senderId: string): string => `${env} ${webhook} ${senderId}`;
const keyOfItem = ({ run, delivery }: NewDelivery): string =>
  keyOf(run.env, delivery.webhook, delivery.senderId);

/** A delivery with the same sender's id was pruned while this one was stored. */
class Gone extends Error {}

const maxTries = 5;

async function storeUntilFound(engine: Engine, items: readonly NewDelivery[]): Promise<Stored[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await storeDeliveries(engine, items);
    } catch (error) {
      if (!(error instanceof Gone) || tries === maxTries) throw error;
    }
  }
}

async function storeDeliveries(engine: Engine, items: readonly NewDelivery[]): Promise<Stored[]> {
  const firsts = new Map<string, NewDelivery>();
  for (const item of items) if (!firsts.has(keyOfItem(item))) firsts.set(keyOfItem(item), item);
  const distinct = [...firsts.values()];
  const ids = await engine.sql.begin(async (tx) => {
    const inserted = await insertDeliveries(tx, distinct);
    const isNew = ({ delivery }: NewDelivery): boolean => inserted.has(delivery.id);
    await createRuns(tx, engine, distinct.filter(isNew));
    return readExisting(
      tx,
      distinct.filter((item) => !isNew(item)),
    );
  });
  return items.map((item) => {
    const key = keyOfItem(item);
    const first = firsts.get(key) as NewDelivery;
    return { id: ids.get(key) ?? first.delivery.id, isDuplicate: item !== first || ids.has(key) };
  });
}

/** Returns the ids of the stored deliveries. */
async function insertDeliveries(
  tx: Transaction,
  items: readonly NewDelivery[],
): Promise<ReadonlySet<string>> {
  const rows = await tx<{ id: string }[]>`
    insert into webhook_deliveries (env, webhook, sender_id, id, headers, body, run_ids, created_at)
    select i.env, i.webhook, i.sender_id, i.id, i.headers, i.body, array[i.run], i.created_at
      from unnest(${column(items, ({ run }) => run.env)}::int[],
                  ${column(items, ({ delivery }) => delivery.webhook)}::text[],
                  ${column(items, ({ delivery }) => delivery.senderId)}::text[],
                  ${column(items, ({ delivery }) => delivery.id)}::text[],
                  ${texts(tx, items, ({ delivery }) => JSON.stringify(delivery.headers))},
                  ${items.map(({ delivery }) => delivery.body)}::bytea[],
                  ${column(items, ({ run }) => run.id)}::text[],
                  ${column(items, ({ delivery }) => delivery.receivedAt)}::timestamptz[])
             as i (env, webhook, sender_id, id, headers, body, run, created_at)
     order by i.env, i.webhook, i.sender_id
    on conflict do nothing
    returning id`;
  return new Set(rows.map(({ id }) => id));
}

async function createRuns(tx: Transaction, engine: Engine, items: readonly NewDelivery[]): Promise<void> {
  const created = await makeRuns(
    tx,
    engine,
    items.map(({ run }) => run),
  );
  for (const { delivery, run } of items) {
    const id = created.get(run.id) ?? run.id;
    // Only a task with a singleton resolves to an existing run.
    if (id === run.id) continue;
    await tx`update webhook_deliveries set run_ids = array[${id}::text] where env = ${run.env} and id = ${delivery.id}`;
  }
}

/** The ids of earlier deliveries. A separate statement: the one before may have waited for another that stored the delivery. */
async function readExisting(tx: Transaction, items: readonly NewDelivery[]): Promise<Map<string, string>> {
  if (items.length === 0) return new Map();
  const rows = await tx<{ env: number; webhook: string; sender_id: string; id: string }[]>`
    select d.env, d.webhook, d.sender_id, d.id
      from unnest(${items.map(({ run }) => run.env)}::int[], ${items.map(({ delivery }) => delivery.webhook)}::text[],
                  ${items.map(({ delivery }) => delivery.senderId)}::text[]) as i (env, webhook, sender_id)
      join webhook_deliveries d on d.env = i.env and d.webhook = i.webhook and d.sender_id = i.sender_id`;
  if (rows.length < items.length) throw new Gone();
  return new Map(rows.map((row) => [keyOf(row.env, row.webhook, row.sender_id), row.id]));
}
