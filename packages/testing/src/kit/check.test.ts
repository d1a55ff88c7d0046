import { setTimeout as sleep } from 'node:timers/promises';
import { task } from '@millrace/sdk';
import { expect, test } from 'vitest';
import { durationMs } from '../clock/duration.ts';
import { anything, triggered } from '../matchers/assert.ts';
import { createTestKit, useMillrace } from '../vitest.ts';

const nap = task({ id: 'nap', run: async (ms: number) => sleep(ms) });
const kit = useMillrace({ tasks: [nap] });

test('names a call that was not awaited, and its position', async () => {
  const forgotten = kit.drain();
  await expect(kit.check()).rejects.toThrow(
    /kit\.drain\(\) at .*check\.test\.ts:\d+:\d+ had not finished: write `await` before it\./,
  );
  await forgotten;
  const failure = triggered(nap, nap, anything, Object.is).then(({ pass, message }) => [pass, message()]);
  const complaints = await complaint();
  expect(await failure).toEqual([false, expect.stringMatching(/Did it run\?/)]);
  expect(complaints).toMatch(
    /expect\(nap\)\.toHaveTriggered\(nap\) at .*check\.test\.ts:\d+:\d+ had not finished/,
  );
  await kit.check();
});

/** The first problem reported by the kit. */
async function complaint(): Promise<string> {
  for (;;) {
    try {
      await kit.check();
    } catch (error) {
      return (error as Error).message;
    }
  }
}

test('names a trigger that was not awaited, and code that still executes', async () => {
  // Long enough to be observed while it executes, on any machine.
  const forgotten = nap.trigger(2_000);
  expect(await complaint()).toMatch(/The request POST \/api\/v1\/tasks\/nap\/trigger had not finished/);
  await forgotten;
  await expect
    .poll(() => complaint())
    .toMatch(/The code of task "nap" \(run_\w+\) was still executing: write `await kit\.drain\(\)`/);
  await kit.drain();
});

test('drain gives up on code that does not end, and names the task', async () => {
  await nap.trigger(2_500);
  await expect(kit.drain({ timeoutInMs: 1_000 })).rejects.toThrow(
    /After 1 s, some work had not finished\. The code of task "nap" has not ended/,
  );
  await kit.drain();
});

test('rejects a second kit, and invalid tasks', async () => {
  await expect(createTestKit({ tasks: [nap] })).rejects.toThrow(/already has a test kit: close it first/);
});

test.each([
  ['3 days', 3 * 86_400_000],
  ['90s', 90_000],
  ['1h 30m', 5_400_000],
  ['1.5 hours', 5_400_000],
  ['1 day and 2 hours', 93_600_000],
  [250, 250],
])('reads the duration %j', (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});

test.each(['', 'soon', '3', '3 fortnights', '-1 day', '5300 weeks', -1, 1e20, Number.NaN])(
  'rejects the duration %j',
  (text) => {
    expect(() => durationMs(text)).toThrow(
      /advance requires milliseconds of at least 0, or a string such as "3 days"/,
    );
  },
);
