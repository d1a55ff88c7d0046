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

/** The run that a request names, if it exists and the caller may do with it what the request asks for. */
export async function reachRun(sql: Queryable, request: RunRequest, missing: Problem): Promise<Reached> {
  const [row] = await sql<ReachedRow[]>`
    select id, task, tags, batch_id from runs where env = ${request.environment.id} and id = ${request.params.runId}`;
  if (!row) {
    // Who may not see it is told the same whether it exists or not.
    request.authorize([{ type: 'runs', id: request.params.runId }]);
    throw missing;
  }
  request.authorize(identitiesOfRow(row));
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
  const identities = row ? identitiesOfRow(row) : [{ type: 'runs', id }];
  if (!allows(principal.scopes, 'write', identities)) throw forbidden();
}

const mostNaming = 100;

/** What the runs that name a packet may be reached by: who reaches one of them may read what it holds. */
export async function identitiesOfPacket(sql: Queryable, env: number, name: string): Promise<Identity[]> {
  const rows = await sql<ReachedRow[]>`
    (select id, task, tags, batch_id from runs
      where env = ${env} and output = ${name} and output_type = 'application/store' limit ${mostNaming})
    union all
    (select id, task, tags, batch_id from runs
      where env = ${env} and payload = ${name} and payload_type = 'application/store' limit ${mostNaming})`;
  return rows.flatMap(identitiesOfRow);
}

interface ReachableRun {
  readonly id: string;
  readonly taskIdentifier: string;
  readonly tags: readonly string[];
  readonly batchId?: string | undefined;
}

/** 403 unless the caller may do with this run what the request asks for. */
export function authorizeRun(
  request: Pick<Request<OperationDeclaration>, 'authorize'>,
  run: ReachableRun,
): void {
  request.authorize(identitiesOf(run));
}

/** A run may be reached through its own id, its task, any of its tags or its batch. */
const identitiesOf = ({ id, taskIdentifier, tags, batchId }: ReachableRun): Identity[] => [
  { type: 'runs', id },
  { type: 'tasks', id: taskIdentifier },
  ...tags.map((tag) => ({ type: 'tags', id: tag })),
  ...(batchId === undefined ? [] : [{ type: 'batch', id: batchId }]),
];

const identitiesOfRow = ({ id, task, tags, batch_id }: ReachedRow): Identity[] =>
  identitiesOf({ id, taskIdentifier: task, tags: tags ?? [], batchId: batch_id ?? undefined });
