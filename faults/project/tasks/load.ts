/** The tasks of the load. Each appends its effects to a file outside of the database, with the time and the runner. */
import { schedules, sessions, step, task, wait } from '@millrace/sdk';
import { appendFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

interface Payload {
  readonly key: string;
}
interface Executing {
  readonly run: { readonly id: string };
  readonly attempt: { readonly number: number };
}

const file = process.env['FAULTS_EFFECTS'] ?? '/dev/null';
const runner = process.env['FAULTS_RUNNER'];

/** A line below 4 KiB is appended as a whole, also by several processes. */
function effect({ run, attempt }: Executing, key: string, point: string, value?: unknown): Promise<void> {
  const at = Number(process.hrtime.bigint() / 1_000n) / 1_000;
  return appendFile(
    file,
    `${JSON.stringify({ run: run.id, attempt: attempt.number, key, point, value, at, runner })}\n`,
  );
}

const body =
  (act: (payload: Payload, executing: Executing) => Promise<unknown>) =>
  async (payload: Payload, { ctx }: { ctx: Executing }) => {
    await effect(ctx, payload.key, 'begin');
    const output = await act(payload, ctx);
    await effect(ctx, payload.key, 'end', output);
    return output;
  };

export const quick = task({ id: 'quick', run: body(async ({ key }) => key) });

export const slow = task({
  id: 'slow',
  run: body(async ({ key }) => {
    await pause(2_000);
    return key;
  }),
});

export const limited = task({
  id: 'limited',
  queue: { concurrencyLimit: 3 },
  run: body(async ({ key }) => {
    await pause(300);
    return key;
  }),
});

export const waiting = task({
  id: 'waiting',
  run: body(async ({ key }) => {
    await wait.for({ seconds: 8 });
    return key;
  }),
});

/** Each execution of a step returns another value, so that two results of a step are visible. */
export const stepping = task({
  id: 'stepping',
  run: body(async ({ key }, ctx) => {
    const results: string[] = [];
    for (const name of ['first', 'second', 'third']) {
      const result = await step.run(name, async () => {
        const value = crypto.randomUUID();
        await effect(ctx, key, `execute ${name}`, value);
        return value;
      });
      await effect(ctx, key, `result ${name}`, result);
      results.push(result);
      await pause(100);
    }
    return results;
  }),
});

/** Waits for a token that the client completes. */
export const token = task({
  id: 'token',
  run: body(async (payload) => {
    const { token: id } = payload as Payload & { readonly token: string };
    return wait.forToken<string>(id).unwrap();
  }),
});

export const tick = schedules.task({
  id: 'tick',
  cron: '* * * * *',
  run: async ({ timestamp }, { ctx }) => effect(ctx, timestamp.toISOString(), 'tick'),
});

/** Serves a session: one turn for each message. */
export const chat = task({
  id: 'chat',
  run: async ({ sessionId, key }: { sessionId: string; key: string }, { ctx }) => {
    const session = sessions.open(sessionId);
    for (;;) {
      const message = await session.in.wait<string>();
      if (!message.ok) return;
      await effect(ctx, key, 'message', message.output);
      await session.out.append({ reply: message.output });
      await session.out.writeControl('turn-complete');
    }
  },
});
