import type { Wait } from '@millrace/contract/runner';
import { requireAttempt, type Attempt } from './attempt.ts';
import type { Hooks } from './hooks.ts';
import { callApi } from './call-api.ts';

type WaitInfo =
  | { readonly type: 'task'; readonly runId: string }
  | { readonly type: 'batch'; readonly batchId: string; readonly runCount: number }
  | { readonly type: 'token'; readonly token: string }
  | { readonly type: 'duration'; readonly date: Date };

/**
 * The `runtime` API, with which the code of a task waits. Unlike the original, it supports several concurrent waits. The awaited object has
 * already been created, with a key by which an attempt that is executed again finds it.
 */
export function runtimeApi(hooks: Hooks): object {
  const waiting = async <T>(attempt: Attempt, info: WaitInfo, act: () => Promise<T>): Promise<T> => {
    await callWaiting(hooks, 'Wait', attempt, info);
    const value = await act();
    await callWaiting(hooks, 'Resume', attempt, info);
    return value;
  };
  return {
    disable() {},
    async waitForTask({ id }: { id: string }) {
      const attempt = requireAttempt('triggerAndWait');
      return waiting(attempt, { type: 'task', runId: id }, async () => {
        await begin(attempt, { key: `run/${id}`, kind: 'RUN', target: id });
        return callApi(attempt, `/api/v1/runs/${encodeURIComponent(id)}/result`);
      });
    },
    async waitForBatch({ id, runCount }: { id: string; runCount: number }) {
      const attempt = requireAttempt('batchTriggerAndWait');
      if (!runCount) return { id, items: [] };
      return waiting(attempt, { type: 'batch', batchId: id, runCount }, async () => {
        await begin(attempt, { key: `batch/${id}`, kind: 'BATCH', target: id });
        return callApi(attempt, `/api/v1/batches/${encodeURIComponent(id)}/results`);
      });
    },
    async waitForWaitpoint({
      waitpointFriendlyId: id,
      finishDate,
    }: {
      waitpointFriendlyId: string;
      finishDate?: Date;
    }) {
      const attempt = requireAttempt('wait');
      const info: WaitInfo = finishDate
        ? { type: 'duration', date: finishDate }
        : { type: 'token', token: id };
      const known = attempt.waitpoints.get(id);
      return waiting(attempt, info, async () => {
        attempt.waitpoints.delete(id);
        if (known && 'message' in known) return known.message.end((wait) => begin(attempt, wait));
        if (known) {
          await begin(attempt, known.time);
          return { ok: true };
        }
        await begin(attempt, { key: `token/${id}`, kind: 'TOKEN', target: id });
        const path = `/api/v1/waitpoints/tokens/${encodeURIComponent(id)}`;
        const { output, outputType, outputIsError } = (await callApi(attempt, path)) as Token;
        return { ok: outputIsError !== true, output, outputType };
      });
    },
  };
}

interface Token {
  readonly output?: string;
  readonly outputType?: string;
  readonly outputIsError?: boolean;
}

function begin({ scope: { waits } }: Attempt, wait: Wait): Promise<void> {
  if (!waits)
    throw new Error('Waiting does not work here: the code runs without a runner that could suspend it.');
  return waits.begin(wait);
}

/** These hooks only observe, so their errors are ignored, as in the published SDK. */
async function callWaiting(
  hooks: Hooks,
  kind: 'Wait' | 'Resume',
  attempt: Attempt,
  wait: WaitInfo,
): Promise<void> {
  const { payload, ctx, signal, init } = attempt;
  const task = ctx.task.id;
  if (!hooks.has(kind, task)) return;
  const args = { payload, ctx, signal, init, task, wait };
  for (const hook of hooks.of(kind, task)) {
    try {
      await (hook as (args: object) => unknown)(args);
    } catch {
      return;
    }
  }
}
