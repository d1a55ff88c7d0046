import type { OperationDeclaration } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { allows, isUnrestricted } from '../auth/scopes.ts';
import { forbidden, type Problem } from '../problem.ts';
import type { Identity, Request } from '../request.ts';

/** What a caller may reach a run by. */
interface Reached {
  readonly id: string;
  readonly task: string;
  readonly tags: readonly string[];
}

interface ReachedRow {
  readonly id: string;
  readonly task: string;
  readonly tags: string[] | null;
  readonly batch_id: string | null;
}

type RunRequest = Pick<Request<OperationDeclaration>, 'authorize' | 'environment'> & {
  readonly params: { readonly runId: string };
};

/** The run that a request names, if it exists and the caller may read it. */
export const reachRun = (sql: Queryable, request: RunRequest, missing: Problem): Promise<Reached> =>
  reach(sql, request, missing, identitiesToRead);

/** The run that a request names, if it exists and the caller may change it. */
export const reachRunToWrite = (sql: Queryable, request: RunRequest, missing: Problem): Promise<Reached> =>
  reach(sql, request, missing, identitiesToWrite);

async function reach(
  sql: Queryable,
  request: RunRequest,
  missing: Problem,
  identitiesOf: (run: ReachableRun) => Identity[],
): Promise<Reached> {
  const [row] = await sql<ReachedRow[]>`
    select id, task, tags, batch_id from runs where env = ${request.environment.id} and id = ${request.params.runId}`;
  if (!row) {
    // Who may not see it is told the same whether it exists or not.
    request.authorize([{ type: 'runs', id: request.params.runId }]);
    throw missing;
  }
  request.authorize(identitiesOf(reachable(row)));
  return { ...row, tags: row.tags ?? [] };
}

/** 403 unless the caller may write the run that is to be the parent of what it triggers. Whether there is one shows only then. */
export async function admitParent(
  sql: Queryable,
  { principal, environment }: Pick<Request<OperationDeclaration>, 'principal' | 'environment'>,
  id: string | undefined,
): Promise<void> {
  if (id === undefined || principal.kind === 'personalAccessToken' || isUnrestricted(principal.scopes))
    return;
  const [row] = await sql<ReachedRow[]>`
    select id, task, tags, batch_id from runs where env = ${environment.id} and id = ${id}`;
  const identities = row ? identitiesToWrite(reachable(row)) : [{ type: 'runs', id }];
  if (!allows(principal.scopes, 'write', identities)) throw forbidden();
}

/** 403 unless the caller may write the parent or root of a run as well. A run without one is its own. */
export async function admitRelative(
  sql: Queryable,
  { principal, environment }: Pick<Request<OperationDeclaration>, 'principal' | 'environment'>,
  id: string,
  relative: 'parent' | 'root',
): Promise<void> {
  if (principal.kind === 'personalAccessToken' || isUnrestricted(principal.scopes)) return;
  const [row] = await sql<ReachedRow[]>`
    select o.id, o.task, o.tags, o.batch_id
      from runs r join runs o on o.env = r.env and o.id = coalesce(${relative === 'parent' ? sql`r.parent_id` : sql`r.root_id`}, r.id)
     where r.env = ${environment.id} and r.id = ${id}`;
  // One that is gone is not changed.
  if (row && !allows(principal.scopes, 'write', identitiesToWrite(reachable(row)))) throw forbidden();
}

const maxNaming = 100;

/** What the runs that name a packet may be reached by: who reaches one of them may read what it holds. */
export async function identitiesOfPacket(sql: Queryable, env: number, name: string): Promise<Identity[]> {
  const rows = await sql<ReachedRow[]>`
    (select id, task, tags, batch_id from runs
      where env = ${env} and output = ${name} and output_type = 'application/store' limit ${maxNaming})
    union all
    (select id, task, tags, batch_id from runs
      where env = ${env} and payload = ${name} and payload_type = 'application/store' limit ${maxNaming})`;
  return rows.flatMap((row) => identitiesToRead(reachable(row)));
}

interface ReachableRun {
  readonly id: string;
  readonly taskIdentifier: string;
  readonly tags: readonly string[];
  readonly batchId?: string | undefined;
}

type Authorizing = Pick<Request<OperationDeclaration>, 'authorize'>;

/** 403 unless the caller may read this run. */
export const authorizeRun = (request: Authorizing, run: ReachableRun): void =>
  request.authorize(identitiesToRead(run));

/** 403 unless the caller may change this run. */
export const authorizeRunToWrite = (request: Authorizing, run: ReachableRun): void =>
  request.authorize(identitiesToWrite(run));

/** A run may be changed by who may change it or its task. A tag or a batch is a way to find it: `write:batch` fills batches. */
const identitiesToWrite = ({ id, taskIdentifier }: ReachableRun): Identity[] => [
  { type: 'runs', id },
  { type: 'tasks', id: taskIdentifier },
];

/** A run may be read through its own id, its task, any of its tags or its batch. */
const identitiesToRead = (run: ReachableRun): Identity[] => [
  ...identitiesToWrite(run),
  ...run.tags.map((tag) => ({ type: 'tags', id: tag })),
  ...(run.batchId === undefined ? [] : [{ type: 'batch', id: run.batchId }]),
];

const reachable = ({ id, task, tags, batch_id }: ReachedRow): ReachableRun => ({
  id,
  taskIdentifier: task,
  tags: tags ?? [],
  batchId: batch_id ?? undefined,
});
