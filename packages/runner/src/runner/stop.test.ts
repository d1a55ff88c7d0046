import { expect, test } from 'vitest';
import { isAlive } from './testing/alive.ts';
import { startTestRunner, tasksFile } from './testing/runner.ts';

const endless = tasksFile({
  endless: "console.log('began'); await new Promise(() => setInterval(() => {}, 1_000));",
  quick: '',
});

test('attempts that do not end in time are returned after their process ended, and the stop waits for confirmation', async () => {
  const released: unknown[] = [];
  const { peer, runner } = await startTestRunner(
    { 'tasks/all.ts': endless },
    { events: { onReleased: (what) => released.push(what) } },
  );
  const fence = peer.assign('endless');
  await peer.line(`run_${fence}`, 'began');
  peer.confirms = false;
  const pids = runner.pids();
  const stopped = runner.stop({ waitMs: 100 });
  expect(await peer.outcome(fence)).toEqual({ kind: 'released', started: true });
  expect(pids.filter(isAlive)).toEqual([]);
  expect(released).toEqual([{ why: 'unfinished', runs: [`run_${fence}`] }]);
  peer.send({ type: 'settled', fences: [fence], stale: [] });
  await stopped;
});

test('a return with a lost response is repeated over the next connection, which accepts no new attempts', async () => {
  const unconfirmed: (readonly string[])[] = [];
  const { peer, runner } = await startTestRunner(
    { 'tasks/all.ts': endless },
    { events: { onUnconfirmed: (runs) => unconfirmed.push(runs) } },
  );
  const fence = peer.assign('endless');
  await peer.line(`run_${fence}`, 'began');
  peer.confirms = false;
  const stopped = runner.stop({ waitMs: 0 });
  await peer.outcome(fence);
  peer.outcomes.clear();
  peer.confirms = true;
  peer.cut();
  expect(await peer.outcome(fence)).toEqual({ kind: 'released', started: true });
  expect(peer.hellos.at(-1)).toMatchObject({ leased: [fence], capacity: 0 });
  await stopped;
  expect(unconfirmed).toEqual([]);
});

test('a stop waits only briefly for a confirmation, and reports the unconfirmed runs', async () => {
  const unconfirmed: (readonly string[])[] = [];
  const { peer, runner } = await startTestRunner(
    { 'tasks/all.ts': endless },
    { events: { onUnconfirmed: (runs) => unconfirmed.push(runs) } },
  );
  const fence = peer.assign('endless');
  await peer.line(`run_${fence}`, 'began');
  peer.confirms = false;
  const began = performance.now();
  const stopped = runner.stop({ waitMs: 60_000 });
  await runner.stopNow();
  await stopped;
  expect(performance.now() - began).toBeLessThan(3_000);
  expect(unconfirmed).toEqual([[`run_${fence}`]]);
});

test('a run that ends at the moment of the stop has one outcome', async () => {
  const { peer, runner } = await startTestRunner({
    'tasks/all.ts': tasksFile({
      short: "console.log('began'); while (Date.now() < payload) await sleep(1); return 'done';",
    }),
  });
  const at = Date.now() + 1_000;
  const fences = Array.from({ length: 60 }, (_, n) => peer.assign('short', at + n));
  await Promise.all(fences.map((fence) => peer.line(`run_${fence}`, 'began')));
  await runner.stop({ waitMs: at + 30 - Date.now() });
  const completed = peer.received.flatMap((message) =>
    message.type === 'settle' ? message.settlements : [],
  );
  expect(completed.map(({ fence }) => fence).toSorted((a, b) => a - b)).toEqual(fences);
  for (const { outcome } of completed) expect(['completed', 'released']).toContain(outcome.kind);
});
