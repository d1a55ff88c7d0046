import { keyMembers } from '../idempotency-keys/create.ts';
import { encode } from '../payload/encode.ts';
import { currentClient } from '../client/current-client.ts';
import { withinAttempt } from '../run-scope.ts';
import { codecOf, type Codec } from '../sealing/codec.ts';
import { sealMetadata, sealText } from '../sealing/values.ts';
import { wireOptions } from '../task/trigger-options.ts';
import type { AnyTask, RunHandle, TaskId, TaskInput, TaskOutput, TriggerArguments } from '../task/types.ts';
import { noTransaction, openTransaction, type Open } from './open.ts';
import type { Transaction } from './transaction.ts';
import { TransactionError, transactionErrorOf } from './transaction-error.ts';

/** A run that exists once the transaction has committed. */
export type TriggeredInTransaction<T extends AnyTask> = Pick<
  RunHandle<TaskId<T>, TaskOutput<T>>,
  'id' | 'taskIdentifier'
>;

/** The limit of `millrace.trigger`. */
const maxBytes = 3_000_000;

/**
 * Triggers a run in a transaction of your database: it is created when the transaction commits, and never if it rolls back. The database needs
 * an outbox (`millrace outbox install`). Accepts a transaction of `pg`, `postgres`, Drizzle, Prisma, Kysely, Knex or TypeORM, and a task object
 * or its id.
 *
 * Runs triggered in a transaction have no parent run. A relative `delay` counts from this call.
 *
 * Throws a TransactionError if no transaction is open, if it is read-only or has failed, or if the database has no outbox or does not let this
 * role use it. Throws an UnserializableError for a payload that cannot be serialized. Other database errors, such as a serialization failure,
 * are rethrown unchanged.
 *
 * @example
 * await db.transaction(async (tx) => {
 *   const [user] = await tx.insert(users).values({ email }).returning();
 *   await trigger(tx, welcome, { userId: user.id }, { delay: '10m' });
 * });
 */
export async function trigger<T extends AnyTask = AnyTask>(
  tx: Transaction,
  task: T | TaskId<T>,
  ...[payload, options = {}]: TriggerArguments<TaskInput<T>>
): Promise<TriggeredInTransaction<T>> {
  const codec = codecOf(currentClient());
  return withinAttempt(async () => {
    const open = openTransaction(tx);
    const taskIdentifier: TaskId<T> = typeof task === 'string' ? task : task.id;
    const { idempotencyKey } = options;
    const plain = wireOptions(options, false, undefined, '');
    const wire = {
      ...plain,
      ...(codec && plain.metadata !== undefined && { metadata: await sealMetadata(codec, plain.metadata) }),
      ...(idempotencyKey !== undefined && (await keyMembers(idempotencyKey))),
    };
    const { text, type } = codec ? await sealedJsonOf(codec, taskIdentifier, payload) : jsonOf(payload);
    const optionText = JSON.stringify(type === 'application/json' ? wire : { ...wire, payloadType: type });
    const bytes = new TextEncoder().encode(`${text ?? ''}${optionText}`).length;
    if (bytes > maxBytes) {
      throw new TransactionError(
        'too_large',
        `The payload and its options have ${bytes} bytes; at most ${maxBytes} fit into a transaction. Store the data and pass a reference.`,
      );
    }
    try {
      const id = await send(open, [taskIdentifier, text ?? '', optionText]);
      if (typeof id === 'string') return { id, taskIdentifier };
    } catch (error) {
      throw transactionErrorOf(error);
    }
    throw noTransaction();
  });
}

/** The payload as JSON text, with the type needed to parse it. */
function jsonOf(payload: unknown): { readonly text: string | undefined; readonly type: string } {
  const { text, type } = encode(payload, 'payload');
  if (text === undefined || type !== 'application/json') {
    return { text: text === undefined ? undefined : JSON.stringify(text), type };
  }
  // `jsonb` cannot hold these characters, but a string with their escapes can.
  if (/\\u(?:0000|d[89a-f])/i.test(text))
    return { text: JSON.stringify(`{"json":${text}}`), type: 'application/super+json' };
  return { text, type };
}

async function sealedJsonOf(
  codec: Codec,
  task: string,
  payload: unknown,
): Promise<ReturnType<typeof jsonOf>> {
  const { text, type } = encode(payload, 'payload');
  if (text === undefined) return { text, type };
  const sealed = await sealText(codec, { text, type }, `payload ${task}`);
  return { text: JSON.stringify(sealed.text), type: sealed.type };
}

/** Cast from text: some drivers would send a string parameter of type `jsonb` as a JSON string. */
const call = `millrace.trigger($1::text, nullif($2::text, '')::jsonb, $3::text::jsonb)`;

/** The id of the run; null if no transaction is open. */
async function send(open: Open, values: readonly string[]): Promise<unknown> {
  if (open.isSure) return idOf(await open.query(`select ${call} as id`, values));
  // A local setting ends with its transaction: without a transaction, the second statement does not find it and triggers nothing.
  const mark = crypto.randomUUID();
  // Sent in sequence, because `postgres` may send the second of two concurrent statements after the transaction has ended.
  await open.query(`select set_config('millrace.transaction', $1, true)`, [mark]);
  const rows = await open.query(
    `select case when current_setting('millrace.transaction', true) = $4 then ${call} end as id`,
    [...values, mark],
  );
  return idOf(rows);
}

const idOf = (rows: readonly unknown[]): unknown => (rows[0] as { id: unknown } | undefined)?.id;
