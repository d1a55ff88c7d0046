import type { ServerMessage } from '@millrace/contract/runner';
import type { EndedAttempt } from '../runs/complete/complete.ts';
import type { NewRun } from '../runs/create/row.ts';
import type { RunChanges } from './changes.ts';

interface Asked {
  readonly environment: { readonly id: number };
  readonly principal: { readonly kind: string };
  readonly params?: unknown;
  readonly body?: unknown;
}

/** Lets those who watch know what the verbs of this process did, once they did it. Where nobody watches it costs a look into a map. */
export function noticing(changes: RunChanges) {
  return {
    trigger<T extends { readonly id: string }>(
      trigger: (run: NewRun) => Promise<T>,
    ): (run: NewRun) => Promise<T> {
      return async (run) => {
        const triggered = await trigger(run);
        if (run.tags.length > 0 && changes.isWatched(run.env))
          changes.tagged(run.env, triggered.id, run.tags);
        return triggered;
      };
    },

    settle<T>(settle: (ended: EndedAttempt) => Promise<T>): (ended: EndedAttempt) => Promise<T> {
      return async (ended) => {
        const settled = await settle(ended);
        if (changes.isWatched(ended.env)) changes.changed(ended.env, [ended.run]);
        return settled;
      };
    },

    /** What is sent to a runner of the environment: runs that are leased to it execute. */
    sent(env: number, message: ServerMessage): void {
      if (message.type === 'run' && changes.isWatched(env)) {
        changes.changed(
          env,
          message.assignments.map((assignment) => assignment.run),
        );
      }
    },

    /** Handlers of requests that name a run or a batch in their path. */
    handlers<H extends object>(handlers: H): H {
      const noticed = Object.entries(handlers).map(([name, handler]) => {
        // Each handler takes its own operation's request; what is read of it here they all have.
        const handle = handler as (request: Asked) => Promise<unknown>;
        return [
          name,
          async (request: Asked) => {
            const result = await handle(request);
            if (request.principal.kind !== 'personalAccessToken') notice(name, request);
            return result;
          },
        ];
      });
      return Object.fromEntries(noticed) as H;
    },
  };

  function notice(name: string, { environment: { id: env }, params, body }: Asked): void {
    if (!changes.isWatched(env)) return;
    const { runId, batchId } = (params ?? {}) as { readonly runId?: string; readonly batchId?: string };
    const { tags, parentOperations, rootOperations } = (body ?? {}) as {
      readonly tags?: readonly string[];
      readonly parentOperations?: unknown;
      readonly rootOperations?: unknown;
    };
    const reachesOthers =
      name === 'cancelRun' || parentOperations !== undefined || rootOperations !== undefined;
    if (batchId !== undefined || reachesOthers) changes.someChanged(env);
    if (runId === undefined) return;
    if (Array.isArray(tags)) changes.tagged(env, runId, tags);
    changes.changed(env, [runId]);
  }
}
