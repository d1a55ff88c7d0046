import type { OperationDeclaration, TriggerOptions } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { isUser, type Principal } from '../../auth/principal.ts';
import { allows, isUnrestricted } from '../../auth/scopes.ts';
import { forbidden, type Problem } from '../../problem.ts';
import type { Identity, Request } from '../../request.ts';

/** The run named by a request. */
interface FoundRun {
  readonly id: string;
  readonly task: string;
  readonly tags: readonly string[];
}

interface RunRow {
  readonly id: string;
  readonly task: string;
  readonly tags: string[] | null;
  readonly batch_id: string | null;
}

type RunRequest = Pick<Request<OperationDeclaration>, 'authorize' | 'environment'> & {
  readonly params: { readonly runId: string };
};

/** The run named by a request. Throws `missing` if it does not exist, 403 if the caller may not read it. */
export const findRun = (sql: Queryable, request: RunRequest, missing: Problem): Promise<FoundRun> =>
  findAuthorized(sql, request, missing, identitiesToRead);

/** The run named by a request. Throws `missing` if it does not exist, 403 if the caller may not change it. */
export const findRunToWrite = (sql: Queryable, request: RunRequest, missing: Problem): Promise<FoundRun> =>
  findAuthorized(sql, request, missing, identitiesToWrite);

/** The run named by a request. Throws `missing` if it does not exist, 403 if the caller may not send messages to its code. */
export const findRunToSend = (sql: Queryable, request: RunRequest, missing: Problem): Promise<FoundRun> =>
  findAuthorized(sql, request, missing, (run) => [
    ...identitiesToWrite(run),
    { type: 'inputStreams', id: run.id },
  ]);

async function findAuthorized(
  sql: Queryable,
  request: RunRequest,
  missing: Problem,
  identitiesOf: (run: RunIdentity) => Identity[],
): Promise<FoundRun> {
  const [row] = await sql<RunRow[]>`
    select id, task, tags, batch_id from runs where env = ${request.environment.id} and id = ${request.params.runId}`;
  if (!row) {
    // A caller without read access gets the same response whether or not the run exists.
    request.authorize([{ type: 'runs', id: request.params.runId }]);
    throw missing;
  }
  request.authorize(identitiesOf(identityOf(row)));
  return { ...row, tags: row.tags ?? [] };
}

/** Throws 403 unless the caller may write the parent run, so that only authorized callers can find out whether that run exists. */
export async function authorizeParent(
  sql: Queryable,
  { principal, environment }: Pick<Request<OperationDeclaration>, 'principal' | 'environment'>,
  id: string | undefined,
): Promise<void> {
  if (id === undefined || isUser(principal) || isUnrestricted(principal.scopes)) return;
  const [row] = await sql<RunRow[]>`
    select id, task, tags, batch_id from runs where env = ${environment.id} and id = ${id}`;
  const identities = row ? identitiesToWrite(identityOf(row)) : [{ type: 'runs', id }];
  if (!allows(principal.scopes, 'write', identities)) throw forbidden();
}

/**
 * Throws 403 if a trigger requests cancellation of the live runs of its task and singleton key, and the caller may not write runs of the task.
 * A setting in the task's own declaration requires only the right to trigger the task.
 */
export function authorizeReplacing(
  { principal }: Pick<Request<OperationDeclaration>, 'principal'>,
  task: string,
  options: Pick<TriggerOptions, 'singleton'> | undefined,
): void {
  if (options?.singleton?.onConflict !== 'replace') return;
  if (isUser(principal) || isUnrestricted(principal.scopes)) return;
  if (!allows(principal.scopes, 'write', [{ type: 'runs' }, { type: 'tasks', id: task }]))
    throw forbidden('options.singleton: replacing cancels runs, which it may not');
}

/** Throws 403 unless the caller may write the parent or root of a run. A run without a parent is its own parent and root. */
export async function authorizeRelative(
  sql: Queryable,
  { principal, environment }: Pick<Request<OperationDeclaration>, 'principal' | 'environment'>,
  id: string,
  relative: 'parent' | 'root',
): Promise<void> {
  if (isUser(principal) || isUnrestricted(principal.scopes)) return;
  const [row] = await sql<RunRow[]>`
    select o.id, o.task, o.tags, o.batch_id
      from runs r join runs o on o.env = r.env and o.id = coalesce(${relative === 'parent' ? sql`r.parent_id` : sql`r.root_id`}, r.id)
     where r.env = ${environment.id} and r.id = ${id}`;
  // A deleted run cannot be changed.
  if (row && !allows(principal.scopes, 'write', identitiesToWrite(identityOf(row)))) throw forbidden();
}

const maxRunsOfPacket = 100;

/** The identities of the runs whose payload or output is a packet: permission to read one of those runs includes the packet. */
export async function identitiesOfPacket(sql: Queryable, env: number, name: string): Promise<Identity[]> {
  const rows = await sql<RunRow[]>`
    (select id, task, tags, batch_id from runs
      where env = ${env} and output = ${name} and output_type = 'application/store' limit ${maxRunsOfPacket})
    union all
    (select id, task, tags, batch_id from runs
      where env = ${env} and payload = ${name} and payload_type = 'application/store' limit ${maxRunsOfPacket})
    union all
    (select r.id, r.task, r.tags, r.batch_id
       from run_steps s cross join lateral (select x.* from runs x where x.env = s.env and x.id = s.run_id limit 1) r
      where s.env = ${env} and s.output = ${name} and s.output_type = 'application/store' limit ${maxRunsOfPacket})`;
  return rows.flatMap((row) => identitiesToRead(identityOf(row)));
}

interface RunIdentity {
  readonly id: string;
  readonly taskIdentifier: string;
  readonly tags: readonly string[];
  readonly batchId?: string | undefined;
}

type Authorizing = Pick<Request<OperationDeclaration>, 'authorize'>;

/** Throws 403 unless the caller may read this run. */
export const authorizeRun = (request: Authorizing, run: RunIdentity): void =>
  request.authorize(identitiesToRead(run));

/** Throws 403 unless the caller may change this run. */
export const authorizeRunToWrite = (request: Authorizing, run: RunIdentity): void =>
  request.authorize(identitiesToWrite(run));

/** Whether the caller may read a run of the environment. */
export const mayReadRun = (principal: Principal, row: RunRow): boolean =>
  isUser(principal) || allows(principal.scopes, 'read', identitiesToRead(identityOf(row)));

/** A run may be changed through its own id or its task, but not through a tag or a batch: `write:batch` is for filling batches. */
const identitiesToWrite = ({ id, taskIdentifier }: RunIdentity): Identity[] => [
  { type: 'runs', id },
  { type: 'tasks', id: taskIdentifier },
];

/** A run may be read through its own id, its task, any of its tags or its batch. */
const identitiesToRead = (run: RunIdentity): Identity[] => [
  ...identitiesToWrite(run),
  ...run.tags.map((tag) => ({ type: 'tags', id: tag })),
  ...(run.batchId === undefined ? [] : [{ type: 'batch', id: run.batchId }]),
];

const identityOf = ({ id, task, tags, batch_id }: RunRow): RunIdentity => ({
  id,
  taskIdentifier: task,
  tags: tags ?? [],
  batchId: batch_id ?? undefined,
});
