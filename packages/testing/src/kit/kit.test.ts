import { events, queues, runs, schedules, step, task, wait } from '@millrace/sdk';
import { expect, test } from 'vitest';
import { useMillrace } from '../vitest.ts';

const seen: string[] = [];
const ticks: string[] = [];
let failures = 0;

const mail = task({ id: 'mail', run: async (payload: { to: string }) => payload.to.length });
const order = task({
  id: 'order',
  run: async ({ to }: { to: string }) => {
    await mail.trigger({ to });
    return { ordered: true };
  },
});
const patient = task({
  id: 'patient',
  run: async () => {
    const from = Date.now();
    await wait.for({ days: 3 });
    await wait.until({ date: new Date(Date.now() + 3_600_000) });
    await step.sleep('once more', { minutes: 10 });
    return Math.round((Date.now() - from) / 60_000);
  },
});
const parent = task({
  id: 'parent',
  run: async () => (await mail.triggerAndWait({ to: 'child' }, { delay: '2h' }).unwrap()) + 1,
});
const flaky = task({
  id: 'flaky',
  retry: { maxAttempts: 4, minTimeoutInMs: 60_000, factor: 10, randomize: false, maxTimeoutInMs: 3_600_000 },
  run: async () => {
    seen.push(`try at ${Math.round(kit.now().getTime() / 60_000) - began}`);
    if (failures-- > 0) throw new Error('The bank is closed.');
  },
});
const hourly = schedules.task({
  id: 'hourly',
  cron: '0 * * * *',
  run: async ({ timestamp }) => void ticks.push(timestamp.toISOString().slice(14, 16)),
});
const limited = task({
  id: 'limited',
  queue: { name: 'limited', rateLimit: { limit: 1, period: '1m' } },
  run: async (n: number) => void seen.push(`${n} at ${Math.round((kit.now().getTime() - began) / 60_000)}`),
});
const onSignup = task({
  id: 'on-signup',
  on: { name: 'signup' },
  run: async (payload: { name: string }) => payload.name,
});
let began = 0;

const kit = useMillrace({ tasks: [mail, order, { patient, flaky }, parent, hourly, limited, onSignup] });

test('executes triggered runs, and the runs that they trigger', async () => {
  await order.trigger({ to: 'Ada' });
  expect(await kit.drain()).toEqual([]);
  await expect(order).toHaveTriggered(mail, { to: 'Ada' });
  await expect(order).toHaveTriggered(mail, { to: expect.any(String) as string });
  await expect(order).not.toHaveTriggered(mail, { to: 'Bob' });
  await expect(mail).not.toHaveTriggered(order);
  await expect(mail).toHaveCompleted(3);
  await expect(order).toHaveCompleted({ ordered: true });
  await expect(expect(order).toHaveTriggered(mail, { to: 'Bob' })).rejects.toThrow(
    /has not triggered "mail" with \{"to":"Bob"\}\. It triggered: \n {2}mail with \{"to":"Ada"\}/,
  );
});

test('each test has an empty environment', async () => {
  expect(await kit.runsOf(order)).toEqual([]);
});

test('waits of days end at their times when the clock is moved', async () => {
  await patient.trigger();
  const [waiting] = await kit.drain();
  expect(waiting).toMatchObject({
    task: 'patient',
    status: 'WAITING',
    message: expect.any(String) as string,
  });
  const from = kit.now().getTime();
  expect(await kit.advance('2 days 23 hours')).toHaveLength(1);
  expect(await kit.advance('3h')).toEqual([]);
  const passed = kit.now().getTime() - from;
  expect(passed).toBeGreaterThanOrEqual(74 * 3_600_000);
  expect(passed).toBeLessThan(74 * 3_600_000 + 10_000);
  expect(Math.abs(Date.now() - kit.now().getTime())).toBeLessThan(50);
  await expect(patient).toHaveCompleted(3 * 24 * 60 + 70);
});

test('a run that waits for a delayed child continues with it', async () => {
  await parent.trigger();
  expect((await kit.advance('1h')).map((run) => run.status).toSorted()).toEqual(['DELAYED', 'WAITING']);
  expect(await kit.advance('1h')).toEqual([]);
  await expect(parent).toHaveCompleted(6);
});

test('retries start after their delays, one after the other', async () => {
  failures = 3;
  seen.length = 0;
  began = Math.round(kit.now().getTime() / 60_000);
  await flaky.trigger();
  const [waiting] = await kit.drain();
  expect(waiting?.task).toBe('flaky');
  await kit.advance('1 day');
  expect(seen).toEqual(['try at 0', 'try at 1', 'try at 11', 'try at 71']);
  failures = 9;
  await flaky.trigger();
  await kit.advance('1 day');
  await expect(flaky).toHaveFailed('bank is closed');
  await expect(flaky).not.toHaveFailed(/open/);
});

test('a schedule fires at each of its times', async () => {
  ticks.length = 0;
  await kit.advance('5h');
  expect(ticks).toEqual(['00', '00', '00', '00', '00']);
});

test('a rate limit allows one start per minute', async () => {
  seen.length = 0;
  began = kit.now().getTime();
  for (const n of [1, 2, 3]) await limited.trigger(n);
  expect(await kit.drain()).toHaveLength(2);
  expect(await kit.advance('10m')).toEqual([]);
  expect(seen).toEqual(['1 at 0', '2 at 1', '3 at 2']);
});

test('a run expires, and reports beforehand why it does not start', async () => {
  await queues.pause({ type: 'task', name: 'mail' });
  const { id } = await mail.trigger({ to: 'nobody' }, { ttl: '10m' });
  const [waiting] = await kit.drain();
  expect(waiting).toMatchObject({
    reason: 'queue_paused',
    message: expect.stringMatching(/paused/) as string,
  });
  expect(await kit.advance('9m')).toHaveLength(1);
  expect(await kit.advance('2m')).toEqual([]);
  expect((await runs.retrieve(id)).status).toBe('EXPIRED');
});

test('an event with a later delivery time arrives at that time', async () => {
  await events.send({ name: 'signup', payload: { name: 'Ada' }, deliverAfter: '1d' });
  await kit.advance('23h');
  expect(await kit.runsOf(onSignup)).toEqual([]);
  await kit.advance('1h');
  await expect(onSignup).toHaveCompleted('Ada');
});

test('a task that is not in the kit is reported by name', async () => {
  const unknown = task({ id: 'unknown', run: async () => 1 });
  await unknown.trigger();
  const [waiting] = await kit.drain();
  expect(waiting).toMatchObject({
    task: 'unknown',
    status: 'PENDING_VERSION',
    message: 'The task "unknown" is not in the kit: add it to `tasks` of the kit.',
  });
});
