import { setTimeout as sleep } from 'node:timers/promises';
import { task } from '@millrace/sdk';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { numRuns } from '../../../../test/support/long.ts';
import { useMillrace } from '../vitest.ts';

/** Executions by run. */
const executed = new Map<string, number>();

/** Keeps the process busy, so that neither the runner nor the SDK, which share it with the tests, does anything in the meantime. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

const work = task({
  id: 'work',
  run: async ({ blocksMs, pausesMs }: { blocksMs: number; pausesMs: number }, { ctx }) => {
    executed.set(ctx.run.id, (executed.get(ctx.run.id) ?? 0) + 1);
    block(blocksMs);
    await sleep(pausesMs);
  },
});

const kit = useMillrace({ tasks: [work] });

const count = 24;
const draw = fc.record({
  runs: fc.array(
    fc.record({ blocksMs: fc.constantFrom(0, 0, 0, 5, 40), pausesMs: fc.constantFrom(0, 1, 30) }),
    { minLength: count, maxLength: count },
  ),
  losesReply: fc.boolean(),
  isBatch: fc.boolean(),
  advances: fc.constantFrom('', '1 hour', '2 days'),
});

test(
  'under load, each trigger creates one run, and each run executes once',
  { timeout: 300_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(draw, async ({ runs, losesReply, isBatch, advances }) => {
        executed.clear();
        if (losesReply) kit.faults.loseReply('trigger');
        const ids = isBatch
          ? (await work.batchTrigger(runs.map((payload) => ({ payload }))), [])
          : (await Promise.all(runs.map((payload) => work.trigger(payload)))).map(({ id }) => id);
        // The clock moves while runs execute.
        if (advances !== '') await kit.advance(advances);
        expect(await kit.drain()).toEqual([]);
        expect([...executed.values()]).toEqual(Array.from({ length: count }, () => 1));
        if (!isBatch) expect([...executed.keys()].toSorted()).toEqual(ids.toSorted());
      }),
      { numRuns: numRuns(60) },
    );
  },
);
