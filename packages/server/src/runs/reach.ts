import type { OperationDeclaration } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import type { Problem } from '../problem.ts';
import type { Request } from '../request.ts';

/** What a caller may reach a run by. */
interface Reached {
  readonly id: string;
  readonly task: string;
  readonly tags: readonly string[];
}

type RunRequest = Pick<Request<OperationDeclaration>, 'authorize' | 'environment'> & {
  readonly params: { readonly runId: string };
};

/** The run that a request names, if it exists and the caller may do with it what the request asks for. */
export async function reachRun(sql: Queryable, request: RunRequest, missing: Problem): Promise<Reached> {
  const [row] = await sql<{ id: string; task: string; tags: string[] | null; batch_id: string | null }[]>`
    select id, task, tags, batch_id from runs where env = ${request.environment.id} and id = ${request.params.runId}`;
  if (!row) {
    // Who may not see it is told the same whether it exists or not.
    request.authorize([{ type: 'runs', id: request.params.runId }]);
    throw missing;
  }
  const run = { ...row, tags: row.tags ?? [] };
  authorizeRun(request, {
    id: run.id,
    taskIdentifier: run.task,
    tags: run.tags,
    batchId: row.batch_id ?? undefined,
  });
  return run;
}

/** A run may be reached through its own id, its task, any of its tags or its batch. */
export function authorizeRun(
  request: Pick<Request<OperationDeclaration>, 'authorize'>,
  run: {
    readonly id: string;
    readonly taskIdentifier: string;
    readonly tags: readonly string[];
    readonly batchId?: string | undefined;
  },
): void {
  request.authorize([
    { type: 'runs', id: run.id },
    { type: 'tasks', id: run.taskIdentifier },
    ...run.tags.map((tag) => ({ type: 'tags', id: tag })),
    ...(run.batchId === undefined ? [] : [{ type: 'batch', id: run.batchId }]),
  ]);
}
