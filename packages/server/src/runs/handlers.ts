import type { operations } from '@millrace/contract';
import type { MintPublicToken } from '../auth/mint.ts';
import { oneTimeUseOf } from '../auth/one-time.ts';
import { notFound, Problem, unprocessable } from '../problem.ts';
import type { HandlersOf, Request } from '../request.ts';
import type { ConnectedRunners } from '../workers/runners.ts';
import { cancelRun } from './cancel.ts';
import type { Engine } from './engine.ts';
import { readLines } from './logs.ts';
import type { TriggerRequest } from './prepare.ts';
import { prepareRun } from './prepare.ts';
import { authorizeRun } from './reach.ts';
import { retrieveRun } from './retrieve.ts';
import type { NewRun } from './row.ts';
import type { Triggered } from './trigger.ts';

type Named = Pick<
  typeof operations,
  'triggerTask' | 'triggerMany' | 'retrieveRun' | 'cancelRun' | 'listRunLogs'
>;

export interface RunHandlerDependencies {
  readonly engine: Engine;
  readonly runners: ConnectedRunners;
  readonly trigger: (run: NewRun) => Promise<Triggered>;
  readonly mint: MintPublicToken;
}

const handleTokenSeconds = 3_600;

export function runHandlers({ engine, runners, trigger, mint }: RunHandlerDependencies): HandlersOf<Named> {
  const prepared = (
    request: Request<Named['triggerTask']>,
    task: string,
    body: TriggerRequest,
  ): NewRun | Promise<NewRun> =>
    prepareRun(engine, request.environment, task, body, {
      idempotencyKey: request.header('idempotency-key'),
      idempotencyKeyTTL: request.header('idempotency-key-ttl'),
    });

  /** What a client needs to read the run that it made, in its own hands or in a browser's. */
  const handToken = async (request: Request<Named['triggerTask']>, run: string): Promise<void> => {
    if (request.principal.kind === 'personalAccessToken') return;
    const token = await mint(request.principal, {
      scopes: [`read:runs:${run}`, `write:inputStreams:${run}`],
      expiresInSeconds: handleTokenSeconds,
    });
    if (token !== undefined) request.setHeader('x-trigger-jwt', token);
    request.setHeader(
      'x-trigger-jwt-claims',
      JSON.stringify({ sub: request.environment.publicId, pub: true }),
    );
  };

  return {
    async triggerTask(request) {
      const { taskId } = request.params;
      request.authorize([{ type: 'tasks', id: taskId }]);
      const run = prepared(request, taskId, request.body);
      const triggered = await trigger(withUse(request, run instanceof Promise ? await run : run));
      await handToken(request, triggered.id);
      return triggered;
    },

    async triggerMany(request) {
      const { items } = request.body;
      // All or none: who may not trigger one of the tasks learns nothing of the others.
      for (const task of new Set(items.map((item) => item.task)))
        request.authorize([{ type: 'tasks', id: task }]);
      if (items.length > 1 && oneTimeUseOf(request.principal)) {
        throw unprocessable('A one-time token creates one run: send one item');
      }
      const results = await Promise.all(
        items.map(async (item) => {
          try {
            const run = prepareRun(engine, request.environment, item.task, item);
            return await trigger(withUse(request, run instanceof Promise ? await run : run));
          } catch (error) {
            if (error instanceof Problem) return { status: error.status, error: error.message };
            throw error;
          }
        }),
      );
      return { results };
    },

    async retrieveRun(request) {
      const run = await retrieveRun(engine, request.environment.id, request.params.runId);
      // A client that has just triggered may be ahead of a replica: let it ask again.
      if (!run) throw notFound('Not found', true);
      authorizeRun(request, run);
      return run;
    },

    async cancelRun(request) {
      const { runId } = request.params;
      const env = request.environment.id;
      const run = await retrieveRun(engine, env, runId);
      if (run) authorizeRun(request, run);
      if (!run || !(await cancelRun(engine, runners, env, runId))) throw notFound('Resource not found');
      return { id: runId };
    },

    async listRunLogs(request) {
      const { runId } = request.params;
      const run = await retrieveRun(engine, request.environment.id, runId);
      if (!run) throw notFound();
      authorizeRun(request, run);
      const { after, limit } = request.query;
      const lines = await readLines(engine, request.environment.id, runId, after, limit);
      return {
        lines: lines.map(({ attempt, at, level, message, properties }) => ({
          attempt,
          at: at.toISOString(),
          level,
          message,
          properties: properties === null ? undefined : (JSON.parse(properties) as Record<string, unknown>),
        })),
        next: lines.length === limit ? Number(lines.at(-1)?.id) : undefined,
      };
    },
  };
}

const withUse = ({ principal }: Pick<Request<Named['triggerTask']>, 'principal'>, run: NewRun): NewRun => {
  const oneTime = oneTimeUseOf(principal);
  return oneTime ? { ...run, oneTime } : run;
};
