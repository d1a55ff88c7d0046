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

/** A run that exists when the transaction has committed. */
export type TriggeredInTransaction<T extends AnyTask> = Pick<
  RunHandle<TaskId<T>, TaskOutput<T>>,
  'id' | 'taskIdentifier'
>;

/** `millrace.trigger` refuses more. */
const maxBytes = 3_000_000;

/**
 * Triggers a run in a transaction of your database: it is created when the transaction commits, and never when it rolls back. The
 * database needs an outbox (`millrace outbox install`). The transaction is one of `pg`, `postgres`, Drizzle, Prisma, Kysely, Knex or
 * TypeORM. The task is a task object, or the id of one.
 *
 * Runs of transactions have no parent run. A relative `delay` counts from this call.
 *
 * Throws a TransactionError where no transaction is open, or it is read-only or has failed, or the database has no outbox or does not
 * let this role use it. Throws an UnserializableError for a payload that cannot be sent. Other errors of the database, such as a failed
 * serialization, come as they are.
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

/** The payload as the text of a JSON value, with the type that says how it is read. */
function jsonOf(payload: unknown): { readonly text: string | undefined; readonly type: string } {
  const { text, type } = encode(payload, 'payload');
  if (text === undefined || type !== 'application/json') {
    return { text: text === undefined ? undefined : JSON.stringify(text), type };
  }
  // No `jsonb` holds these characters, but a text with their escapes does.
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

/** Of text: some drivers would write a string that is sent as `jsonb` as a JSON string. */
const call = `millrace.trigger($1::text, nullif($2::text, '')::jsonb, $3::text::jsonb)`;

/** The id of the run; null where no transaction is open. */
async function send(open: Open, values: readonly string[]): Promise<unknown> {
  if (open.isSure) return idOf(await open.query(`select ${call} as id`, values));
  // A local setting ends with its transaction: without one, the second statement does not find it, and triggers nothing.
  const mark = crypto.randomUUID();
  // One after the other: `postgres` never ends the second of two statements that are sent together after its transaction.
  await open.query(`select set_config('millrace.transaction', $1, true)`, [mark]);
  const rows = await open.query(
    `select case when current_setting('millrace.transaction', true) = $4 then ${call} end as id`,
    [...values, mark],
  );
  return idOf(rows);
}

const idOf = (rows: readonly unknown[]): unknown => (rows[0] as { id: unknown } | undefined)?.id;
