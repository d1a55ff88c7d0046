import { z } from 'zod';
import { writes } from '../tool.ts';
import { errorInput } from './errors.ts';
import { runInput } from './views.ts';

const payloadInput = z.json().optional();

export const triggerTask = writes({
  name: 'trigger_task',
  title: 'Trigger a task',
  description:
    'Starts a run of a task. The code of the task then executes, with all its effects. read_task has the payload that it takes; watch_run waits for the run.',
  input: {
    task: z.string().min(1).max(128).describe('Id of a task'),
    payload: payloadInput.describe('What the task is given, as its payloadSchema says.'),
    delay: z.string().optional().describe('Start later: a duration such as 10m, or a time.'),
    tags: z.array(z.string().min(1).max(128)).max(10).optional(),
    idempotencyKey: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe(
        'A second call with this key finds the run of the first. Give one if you may repeat the call.',
      ),
  },
  output: { id: z.string().describe('Id of the run'), isCached: z.boolean() },
  destroys: false,
  idempotent: false,
  async write({ task, payload, ...options }, { client: { tasks, runs } }) {
    const defined = Object.entries(options).filter(([, value]) => value !== undefined);
    const { id, isCached } = await tasks.trigger(task, payload, Object.fromEntries(defined));
    // The run exists regardless of the result of this call.
    const reason = await runs.reason(id).catch(() => undefined);
    return { id, isCached, ...(reason?.reason === 'no_version' && { warning: reason.message }) };
  },
});

export const replayRun = writes({
  name: 'replay_run',
  title: 'Replay a run',
  description:
    'Starts a new run of the same task with the payload of an old one, or with another payload, on the current version.',
  input: { run: runInput, payload: payloadInput.describe('Instead of the payload of the old run.') },
  output: { id: z.string().describe('Id of the new run') },
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
    'Cancels a run and its child runs. A waiting run ends at once; the code of an executing run is asked to stop. A run that is over stays as it is.',
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
  description: 'Marks an error group as resolved. It reopens when the error occurs again.',
  input: {
    error: errorInput,
    version: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('The version that has the fix: older versions do not reopen it.'),
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
