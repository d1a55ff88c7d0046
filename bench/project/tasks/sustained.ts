import { schedules, task } from '@millrace/sdk';

export const idle = task({ id: 'idle', run: async () => undefined });

interface Flaky {
  /** The percentage of attempts that fail. */
  readonly failing: number;
}

export const flaky = task({
  id: 'flaky',
  retry: { maxAttempts: 3, minTimeoutInMs: 200, maxTimeoutInMs: 1_000, factor: 2 },
  run: async ({ failing }: Flaky, { ctx }) => {
    if (ctx.attempt.number <= failing) throw new Error('This attempt fails as requested.');
  },
});

export const ticked = schedules.task({ id: 'ticked', run: async () => undefined });
