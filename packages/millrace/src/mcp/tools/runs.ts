import { isUnreadable, runFilterKeys, runFilterParams, runFilterQuery } from '@millrace/contract/filter';
import type { Run } from '@millrace/sdk';
import { z } from 'zod';
import { reads, ToolRefused, type ToolContext } from '../tool.ts';
import { afterInput, limitOf, nextOutput, runInput, runView, shortError, shortRun } from './views.ts';

const keys = Object.entries(runFilterKeys)
  .map(([key, meaning]) => `${key}: ${meaning}`)
  .join('; ');

const filterInput = z
  .string()
  .max(2_000)
  .default('')
  .describe(
    `Words such as "status:failed task:mail since:2h", all of which must match. Without a time: the last 7 days. Keys are ${keys}; metadata.<path> and payload.<path>: a value at a declared path.`,
  );

function paramsOf(filter: string) {
  const query = runFilterQuery(filter);
  if (isUnreadable(query)) throw new ToolRefused(`Invalid filter: ${query.error}`);
  return runFilterParams(query);
}

export const listRuns = reads({
  name: 'list_runs',
  title: 'List runs',
  description: 'Finds runs, newest first, with their status. explain_run returns the details of one.',
  input: { filter: filterInput, limit: limitOf(50, 20), after: afterInput },
  output: { runs: z.array(runView), next: nextOutput },
  rest: 'explain_run returns one run.',
  async read({ filter, limit, after }, { client }) {
    const page = await client.runs.list({
      ...paramsOf(filter),
      limit,
      ...(after !== undefined && { after }),
    });
    return { runs: page.data.map(shortRun), ...(page.next !== undefined && { next: page.next }) };
  },
});

export const explainRun = reads({
  name: 'explain_run',
  title: 'Explain a run',
  description:
    'Returns one run: status, why it is not running, payload, output, error with its frames, attempts, and a timeline with its child runs.',
  input: { run: runInput },
  output: {
    run: runView,
    why: z.string().optional().describe('Why it is not running, if it has not ended.'),
    attempts: z.array(z.unknown()),
    timeline: z.array(z.unknown()),
  },
  rest: 'read_logs returns its log lines; its complete payload and output are in the dashboard and in `millrace runs show`.',
  async read({ run: id }, { client: { runs } }) {
    const run = await runs.retrieve(id);
    const [reason, attempts, timeline] = await Promise.all([
      run.isCompleted ? undefined : runs.reason(id),
      runs.attempts(id, { limit: 20 }),
      runs.timeline(id, { depth: 1, logs: 10, limit: 20 }),
    ]);
    return {
      run: {
        ...shortRun(run),
        queue: run.queue,
        attemptCount: run.attemptCount,
        ...(run.replayOf !== undefined && { replayOf: run.replayOf }),
        ...(run.relatedRuns.parent && { parent: run.relatedRuns.parent.id }),
        ...(run.schedule && { schedule: run.schedule }),
        ...(run.event && { event: run.event }),
        ...dataOf(run),
      },
      ...(reason && { why: reason.message, reason }),
      ...(run.error && {
        error: { ...shortError(run.error), causes: run.error.causes?.map(shortError) },
      }),
      attempts: attempts.data.map(({ error, ...attempt }) => ({
        ...attempt,
        ...(error && { error: { message: error.message, group: error.group } }),
      })),
      ...(attempts.hasNextPage() && { moreAttempts: true }),
      timeline: timeline.entries,
      ...(timeline.next !== undefined && { moreChildRuns: true }),
    };
  },
});

const dataOf = ({ payload, output, metadata }: Run) => ({
  ...(payload !== undefined && { payload }),
  ...(output !== undefined && { output }),
  ...(metadata && Object.keys(metadata).length > 0 && { metadata }),
});

/** Most clients give up after a minute. */
export const maxWatchSeconds = 50;
const heartbeatMs = 5_000;

export const watchRun = reads({
  name: 'watch_run',
  title: 'Watch a run',
  description:
    'Waits up to a time limit for a run to end, and returns its status. Call it again if `isOver` is false; then call explain_run for the details.',
  input: {
    run: runInput,
    seconds: z
      .number()
      .min(1)
      .max(maxWatchSeconds)
      .default(30)
      .describe(`Maximum wait in seconds, 1 to ${maxWatchSeconds}.`),
  },
  output: { run: runView, isOver: z.boolean(), why: z.string().optional() },
  rest: 'explain_run returns the details.',
  async read({ run: id, seconds }, context) {
    const { runs } = context.client;
    await waitForEnd(id, seconds, context);
    const run = await runs.retrieve(id);
    const reason = run.isCompleted ? undefined : await runs.reason(id);
    return {
      run: { ...shortRun(run), ...dataOf(run) },
      isOver: run.isCompleted,
      ...(run.error && { error: shortError(run.error) }),
      ...(reason && { why: reason.message }),
    };
  },
});

async function waitForEnd(id: string, seconds: number, context: ToolContext): Promise<void> {
  const { client, signal, progress } = context;
  const enough = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1_000)]);
  let status = '';
  // Sent even if nothing happens, because some clients abandon a call without progress.
  const heartbeat = setInterval(() => void progress(`${id} is ${status}`), heartbeatMs);
  try {
    for await (const run of client.runs.subscribeToRun(id, { signal: enough })) {
      if (run.status === status) continue;
      ({ status } = run);
      await progress(`${id} is ${status}`);
    }
  } finally {
    clearInterval(heartbeat);
  }
  signal.throwIfAborted();
}
