import { outboxItem, parseDelay, storedType } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import { column } from '../db/columns.ts';
import type { Queryable, Transaction } from '../db/connect.ts';
import { isDataError } from '../db/errors.ts';
import { badRequest, Problem } from '../problem.ts';
import { mapInTurns } from '../json/turns.ts';
import { unstorableIssue } from '../json/unstorable.ts';
import type { Dispatch } from '../runs/dispatch/dispatch.ts';
import { withoutDuplicates } from '../runs/create/duplicates.ts';
import { insertRuns } from '../runs/create/insert.ts';
import { prepareRun } from '../runs/create/prepare.ts';
import { redactMetadata, type FindRedactor } from '../runs/create/redact-metadata.ts';
import type { InsertedRow, NewRun } from '../runs/create/row.ts';
import type { Engine } from '../runs/engine/engine.ts';

export interface OutboxDependencies {
  readonly engine: Engine;
  readonly dispatch: Pick<Dispatch, 'wake' | 'expect'>;
  readonly redactor: FindRedactor;
}

/** The result for a row: the run it resolved to, or why it cannot be delivered. */
export type Delivered =
  | { readonly id: string; readonly run: string }
  | { readonly id: string; readonly error: string; readonly status: number };

export interface Delivery {
  /** In row order. */
  readonly results: readonly Delivered[];
  /** The created runs, for `follow` after the commit. */
  readonly created: readonly NewRun[];
}

/** The run of a row, or why it cannot be delivered. */
export type Prepared = NewRun | Extract<Delivered, { readonly error: string }>;

/** Reads rows of an outbox. An invalid row, or one of a task for which `authorize` throws a Problem, does not affect the others. */
export async function prepareItems(
  { engine, redactor }: OutboxDependencies,
  environment: Environment,
  items: readonly { readonly id: string }[],
  authorize: (task: string) => void = () => {},
): Promise<Prepared[]> {
  return mapInTurns(items, async (item): Promise<Prepared> => {
    try {
      return await prepareItem(engine, redactor, environment, item, authorize);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { id: item.id, status: error.status, error: error.message };
    }
  });
}

interface DeliverOptions {
  /** Whether a row may arrive again after the commit. If false, receipts are stored only for rows that resolved to another run. */
  readonly mayComeAgain: boolean;
}

/**
 * Creates the runs for outbox rows, in the caller's transaction and in row order. A row that was delivered before creates none. A row that
 * cannot be delivered does not affect the others.
 */
export async function deliver(
  tx: Transaction,
  engine: Engine,
  env: number,
  items: readonly Prepared[],
  options: DeliverOptions,
): Promise<Delivery> {
  await tx.unsafe('savepoint outbox');
  try {
    return await deliverTogether(tx, engine, env, items, options);
  } catch (error) {
    if (!isDataError(error)) throw error;
    await tx.unsafe('rollback to outbox');
  }
  // Written one at a time, to find the row whose data is rejected.
  const results: Delivered[] = [];
  const created: NewRun[] = [];
  for (const item of items) {
    await tx.unsafe('savepoint outbox_row');
    try {
      const delivery = await deliverTogether(tx, engine, env, [item], options);
      results.push(...delivery.results);
      created.push(...delivery.created);
    } catch (error) {
      if (!isDataError(error)) throw error;
      await tx.unsafe('rollback to outbox_row');
      results.push({ id: item.id, status: 422, error: reasonOf(error) });
    }
    await tx.unsafe('release outbox_row');
  }
  return { results, created };
}

const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replaceAll('\u0000', '').slice(0, 500);

async function deliverTogether(
  tx: Transaction,
  { clock }: Engine,
  env: number,
  items: readonly Prepared[],
  { mayComeAgain }: DeliverOptions,
): Promise<Delivery> {
  const ids = items.map(({ id }) => id);
  const outcomes = new Map<string, Delivered>();
  for (const item of items) if ('error' in item) outcomes.set(item.id, item);
  for (const delivered of await findDelivered(tx, env, ids)) outcomes.set(delivered.id, delivered);

  const due = items.flatMap((item) => ('error' in item || outcomes.has(item.id) ? [] : [item]));
  const created: NewRun[] = [];
  const receipts: { readonly id: string; readonly run: string }[] = [];
  for (const group of groupsOf(due)) {
    const { runs, indexes } = withoutDuplicates(group);
    if (runs.length === 0) continue;
    const rows = await insertRuns({ sql: tx, clock }, runs);
    for (const [position, { id }] of group.entries()) {
      const outcome = { id, run: (rows[indexes[position] as number] as InsertedRow).run_id };
      outcomes.set(id, outcome);
      if (mayComeAgain || outcome.run !== id) receipts.push(outcome);
    }
    created.push(...runs.filter((run, index) => rows[index]?.run_id === run.id));
  }
  if (receipts.length > 0) await keepReceipts(tx, env, receipts, new Date(clock.now()));
  return { results: ids.map((id) => outcomes.get(id) as Delivered), created };
}

/** The idempotency key of a debounced trigger is stored with the run it resolves to. Such a trigger is written alone. */
function groupsOf(runs: readonly NewRun[]): readonly (readonly NewRun[])[] {
  return runs.some((run) => run.debounce && run.idempotencyKey !== null) ? runs.map((run) => [run]) : [runs];
}

async function prepareItem(
  engine: Engine,
  redactor: FindRedactor,
  environment: Environment,
  item: unknown,
  authorize: (task: string) => void,
): Promise<NewRun> {
  const read = outboxItem.safeParse(item);
  const unstorable = unstorableIssue(outboxItem, item);
  if (!read.success || unstorable) {
    const issue = read.error?.issues[0] ?? unstorable;
    throw badRequest(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not valid'}`);
  }
  const { id, task, payload, options = {}, createdAt } = read.data;
  authorize(task);
  if (options.payloadType === storedType) {
    throw badRequest(
      `options.payloadType: "${storedType}" is not supported in transactions; store the data and pass a reference.`,
    );
  }
  const { delay } = options;
  // Counted from the time of the trigger, regardless of how long the row waited. Invalid delays are rejected by `prepareRun`.
  const due =
    typeof delay === 'string' && createdAt !== undefined ? parseDelay(delay, new Date(createdAt)) : delay;
  const body = { payload, options: { ...options, ...(due instanceof Date && { delay: due }) } };
  const run = await prepareRun(engine, environment, task, body, { runId: id });
  return redactMetadata(redactor, run);
}

/** Which of these rows were delivered, and the runs they resolved to. */
export const findDelivered = (
  sql: Queryable,
  env: number,
  ids: readonly string[],
): Promise<{ id: string; run: string }[]> => sql<{ id: string; run: string }[]>`
  select i.id, coalesce(c.run_id, r.id) as run
    from unnest(${ids}::text[]) as i (id)
    left join lateral (select x.run_id from outbox_receipts x where x.env = ${env} and x.id = i.id limit 1) c on true
    left join lateral (select x.id from runs x where x.env = ${env} and x.id = i.id limit 1) r on true
   where c.run_id is not null or r.id is not null`;

async function keepReceipts(
  tx: Transaction,
  env: number,
  receipts: readonly { readonly id: string; readonly run: string }[],
  at: Date,
): Promise<void> {
  await tx`
    insert into outbox_receipts (env, id, run_id, created_at)
    select ${env}, i.id, i.run_id, ${at}::timestamptz
      from unnest(${column(receipts, ({ id }) => id)}::text[], ${column(receipts, ({ run }) => run)}::text[]) as i (id, run_id)
     order by i.id`;
}

/** The steps after the commit of a delivery: claims, timers, and notifications of tag subscribers. */
export function follow({ engine, dispatch }: OutboxDependencies, created: readonly NewRun[]): void {
  const queuedIn = new Set<number>();
  for (const run of created) {
    if (run.tags.length > 0) engine.changes.tagged(run.env, run.id, run.tags);
    if (run.state === 'queued') queuedIn.add(run.env);
    if (run.due) dispatch.expect(run.due.getTime());
  }
  for (const env of queuedIn) dispatch.wake(env);
}
