import { setTimeout as sleep } from 'node:timers/promises';
import { runs, step, task } from '@millrace/sdk';
import { expect, test } from 'vitest';
import { useMillrace } from '../vitest.ts';

const deeds: string[] = [];
const receipt = task({ id: 'receipt', run: async (of: number) => void deeds.push(`receipt ${of}`) });
const pay = task({
  id: 'pay',
  retry: { maxAttempts: 1 },
  run: async (cents: number) => {
    try {
      await step.run('reserve', () => deeds.push('reserve'));
      await step.run('charge', ({ idempotencyKey }) => deeds.push(`charge ${idempotencyKey.length > 0}`));
      await step.trigger('receipt', receipt, cents);
      return 'paid';
    } catch (error) {
      deeds.push('refund');
      throw error;
    } finally {
      deeds.push('finally');
    }
  },
});
const slow = task({
  id: 'slow',
  run: async () => {
    deeds.push('begun');
    await sleep(60);
    await receipt.trigger(1);
    deeds.push('ended');
  },
});

const kit = useMillrace({ tasks: [pay, receipt, slow] });

test('repeats only the step whose result was not stored when the process died', async () => {
  deeds.length = 0;
  kit.faults.crashAfter('charge');
  const { id } = await pay.trigger(100);
  expect(await kit.drain()).toEqual([]);
  expect(deeds.toSorted()).toEqual(['charge true', 'charge true', 'finally', 'receipt 100', 'reserve']);
  await expect(pay).toHaveCompleted('paid');
  await expect(pay).toHaveTriggered(receipt, 100);
  const { data } = await runs.attempts(id);
  expect(data.map(({ status }) => status)).toEqual(['LOST', 'COMPLETED']);
});

test('does not repeat a step whose result was stored when the process died', async () => {
  deeds.length = 0;
  kit.faults.crashAfter('charge', { stored: true });
  await pay.trigger(100);
  await kit.drain();
  expect(deeds.toSorted()).toEqual(['charge true', 'finally', 'receipt 100', 'reserve']);
});

test('a run that two runners execute counts once', async () => {
  deeds.length = 0;
  kit.faults.duplicateDelivery(slow);
  const { id } = await slow.trigger();
  await kit.drain();
  expect(deeds.filter((deed) => deed === 'begun')).toHaveLength(2);
  expect((await runs.retrieve(id)).status).toBe('COMPLETED');
  // The first runner had already lost its run when it would have triggered.
  expect(await kit.runsOf(receipt)).toHaveLength(1);
});

test('a trigger whose reply is lost is resent, and creates one run', async () => {
  deeds.length = 0;
  kit.faults.loseReply('trigger');
  await receipt.trigger(7);
  await kit.drain();
  expect(deeds).toEqual(['receipt 7']);
  expect(await kit.runsOf(receipt)).toHaveLength(1);
});

test('a step whose reply is lost executes once', async () => {
  deeds.length = 0;
  kit.faults.loseReply('step');
  await pay.trigger(3);
  await kit.drain();
  expect(deeds.toSorted()).toEqual(['charge true', 'finally', 'receipt 3', 'reserve']);
});

test('a fault that does not happen fails the test and reports the actual events', async () => {
  kit.faults.crashAfter('chrage');
  await pay.trigger(1);
  await kit.drain();
  await expect(kit.check()).rejects.toThrow(
    /crashAfter\('chrage'\) did not happen, because no step of this name ended; the steps that ended are "reserve", "charge"\. Check its name\./,
  );
});

test.each([
  [() => kit.faults.crashAfter(''), /requires the name of a step/],
  [() => kit.faults.crashAfter('charge', { time: 0 }), /time must be a whole number of at least 1; got 0/],
  [() => kit.faults.loseReply('nothing' as 'step'), /requires 'trigger', 'step' or a RegExp/],
  [() => kit.faults.duplicateDelivery(undefined as unknown as string), /requires a task or its id/],
])('rejects invalid arguments: %s', (act, message) => {
  expect(act).toThrow(message);
});
