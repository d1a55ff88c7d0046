import { z } from 'zod';
import { writes } from '../tool.ts';
import { errorInput } from './errors.ts';
import { runInput } from './views.ts';

const payloadInput = z.json().optional();

export const triggerTask = writes({
  name: 'trigger_task',
  title: 'Trigger a task',
  description:
    'Starts a run of a task. The code of the task then executes, with all its side effects. read_task returns its payload schema; watch_run waits for the run.',
  input: {
    task: z.string().min(1).max(128).describe('Task ID.'),
    payload: payloadInput.describe('Payload of the run, which must match the payloadSchema of the task.'),
    delay: z.string().optional().describe('Delay: a duration such as 10m, or a time.'),
    tags: z.array(z.string().min(1).max(128)).max(10).optional(),
    idempotencyKey: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe(
        'A second call with this key returns the run of the first. Set it if you may repeat the call.',
      ),
  },
  output: { id: z.string().describe('ID of the run'), isCached: z.boolean() },
  destroys: false,
  idempotent: false,
  async write({ task, payload, ...options }, { client: { tasks, runs } }) {
    const defined = Object.entries(options).filter(([, value]) => value !== undefined);
    const { id, isCached } = await tasks.trigger(task, payload, Object.fromEntries(defined));
    // The run exists, regardless of the result of this call.
    const reason = await runs.reason(id).catch(() => undefined);
    return { id, isCached, ...(reason?.reason === 'no_version' && { warning: reason.message }) };
  },
});

export const replayRun = writes({
  name: 'replay_run',
  title: 'Replay a run',
  description:
    'Starts a new run of the same task with the payload of an old one, or with another payload, on the current version.',
  input: { run: runInput, payload: payloadInput.describe('Payload to use instead of the old one.') },
  output: { id: z.string().describe('ID of the new run') },
  destroys: false,
  idempotent: false,
  async write({ run, payload }, { client: { runs } }) {
    const { id } = await runs.replay(run, payload === undefined ? {} : { payload });
    return { id };
  },
});

export const cancelRun = writes({
  name: 'cancel_run',
  title: 'Cancel a run',
  description:
    'Cancels a run and its child runs. A waiting run ends immediately; an executing run receives a stop signal. A run that has ended does not change.',
  input: { run: runInput },
  output: { id: z.string(), status: z.string() },
  destroys: true,
  idempotent: true,
  async write({ run }, { client: { runs } }) {
    const { id } = await runs.cancel(run);
    const { status } = await runs.retrieve(id);
    return { id, status };
  },
});

export const resolveError = writes({
  name: 'resolve_error',
  title: 'Resolve an error group',
  description: 'Marks an error group as resolved. It reopens if the error occurs again.',
  input: {
    error: errorInput,
    version: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('Version that contains the fix: older versions do not reopen it.'),
  },
  output: { id: z.string(), status: z.string() },
  destroys: false,
  idempotent: true,
  async write({ error, version }, { client: { errors } }) {
    const { id, status, resolvedInVersion } = await errors.resolve(
      error,
      version === undefined ? {} : { resolvedInVersion: version },
    );
    return { id, status, resolvedInVersion };
  },
});
