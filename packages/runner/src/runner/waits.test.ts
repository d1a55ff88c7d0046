import type { AttemptWaits } from '@millrace/contract/runner';
import { expect, test } from 'vitest';
import type { Peer } from './testing/peer.ts';
import { startTestRunner } from './testing/runner.ts';

/** Tasks of one file: each is the body of an async `run(payload, { signal })`. */
const file = (
  bodies: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, string>> = {},
): string =>
  [
    "import { task, wait } from '@millrace/sdk';",
    ...Object.entries(bodies).map(
      ([id, body]) =>
        `export const ${id} = task({ id: '${id}', ${settings[id] ?? ''} run: async (payload: any, { signal }) => { ${body} } });`,
    ),
  ].join('\n');

const day = 'await wait.for({ days: 1 });';

/** All waits that the runner has sent for an attempt. */
const waitsOf = (peer: Peer, fence: number): AttemptWaits[] =>
  peer.received
    .flatMap((message) => (message.type === 'wait' ? message.attempts : []))
    .filter((attempt) => attempt.fence === fence);

/** Waits until the runner has sent this many waits and suspends the attempt. */
async function suspended(peer: Peer, fence: number, suspension = 1, count = 1): Promise<void> {
  await peer.until(() => waitsOf(peer, fence).length >= count);
  peer.send({ type: 'waited', attempts: [{ fence, state: 'suspended', suspension, keys: [] }] });
}

const resume = (peer: Peer, fence: number, keys: string[], suspension = 1): void =>
  peer.send({ type: 'waited', attempts: [{ fence, state: 'resumed', suspension, keys }] });

test('a waiting attempt uses no slot, and gets the next free one before others', async () => {
  const bodies = {
    waits: `${day} return 'waited';`,
    holds: "console.log('holds'); await new Promise((r) => signal.addEventListener('abort', r));",
  };
  const { peer } = await startTestRunner({ 'tasks/all.ts': file(bodies) }, { concurrency: 1 });
  const waiting = peer.assign('waits');
  await suspended(peer, waiting);
  expect(waitsOf(peer, waiting)).toEqual([
    { run: `run_${waiting}`, fence: waiting, waits: [{ key: 'time/1', kind: 'TIME', inMs: 86_400_000 }] },
  ]);
  const holding = peer.assign('holds');
  await peer.line(`run_${holding}`, 'holds');
  const next = peer.assign('holds');
  resume(peer, waiting, ['time/1']);
  peer.send({ type: 'cancel', fences: [holding] });
  expect(await peer.outcome(holding)).toEqual({ kind: 'canceled' });
  expect(await peer.outcome(waiting)).toMatchObject({ kind: 'completed', output: 'waited' });
  // It got a slot only then.
  await peer.line(`run_${next}`, 'holds');
  const settled = peer.received.findIndex(
    (message) => message.type === 'settle' && message.settlements.some(({ fence }) => fence === waiting),
  );
  const began = peer.received.findIndex(
    (message) => message.type === 'log' && message.lines.some(({ run }) => run === `run_${next}`),
  );
  expect(settled).toBeLessThan(began);
});

test('waits that begin together are sent together, and a remaining one is requested again', async () => {
  const both =
    'const [a] = await Promise.all([wait.for({ days: 1 }).then(() => "a"), wait.for({ days: 2 })]); return a;';
  const { peer } = await startTestRunner({ 'tasks/all.ts': file({ both }) });
  const fence = peer.assign('both');
  await suspended(peer, fence);
  expect(waitsOf(peer, fence)[0]?.waits.map(({ key }) => key)).toEqual(['time/1', 'time/2']);
  resume(peer, fence, ['time/1']);
  await suspended(peer, fence, 2, 2);
  expect(waitsOf(peer, fence)[1]?.waits.map(({ key }) => key)).toEqual(['time/2']);
  resume(peer, fence, ['time/2'], 2);
  expect(await peer.outcome(fence)).toMatchObject({ kind: 'completed', output: 'a' });
});

test('ignores a notification of a suspension that has ended', async () => {
  const { peer } = await startTestRunner({
    'tasks/all.ts': file({ twice: `${day} ${day} return 'twice';` }),
  });
  const fence = peer.assign('twice');
  await peer.until(() => waitsOf(peer, fence).length === 1);
  resume(peer, fence, ['time/1'], 5);
  peer.send({ type: 'waited', attempts: [{ fence, state: 'suspended', suspension: 5, keys: [] }] });
  await peer.until(() => waitsOf(peer, fence).length === 2);
  peer.send({ type: 'waited', attempts: [{ fence, state: 'running', suspension: null, keys: ['time/2'] }] });
  expect(await peer.outcome(fence)).toMatchObject({ kind: 'completed', output: 'twice' });
});

test('requests all waits again over a new connection', async () => {
  const { peer } = await startTestRunner({ 'tasks/all.ts': file({ waits: `${day} return 'waited';` }) });
  const fence = peer.assign('waits');
  await suspended(peer, fence);
  peer.cut();
  await peer.until(() => waitsOf(peer, fence).length === 2);
  expect(peer.hellos.at(-1)?.leased).toEqual([fence]);
  resume(peer, fence, ['time/1']);
  expect(await peer.outcome(fence)).toMatchObject({ kind: 'completed', output: 'waited' });
});

test('a stop signal ends a waiting attempt: its wait throws', async () => {
  const body = "try { await wait.for({ days: 1 }); } finally { console.log('stopped', signal.aborted); }";
  const { peer } = await startTestRunner({ 'tasks/all.ts': file({ body }) });
  const fence = peer.assign('body');
  await suspended(peer, fence);
  peer.send({ type: 'cancel', fences: [fence] });
  expect(await peer.outcome(fence)).toEqual({ kind: 'canceled' });
  await peer.line(`run_${fence}`, 'stopped true');
});

test('a process that dies while its attempts wait releases them', async () => {
  const { peer, runner } = await startTestRunner({ 'tasks/all.ts': file({ waits: day }) });
  const fences = [peer.assign('waits'), peer.assign('waits')];
  for (const fence of fences) await suspended(peer, fence);
  // Its reply shows that it has processed both suspensions.
  const probe = peer.assign('waits');
  await suspended(peer, probe);
  for (const pid of runner.pids()) process.kill(pid, 'SIGKILL');
  const detached = () =>
    peer.received.flatMap((message) => (message.type === 'detach' ? message.fences : []));
  await peer.until(() => detached().length === 3);
  expect(detached().toSorted((a, other) => a - other)).toEqual([...fences, probe]);
  expect(peer.outcomes.size).toBe(0);
});

test('an attempt released before the welcome is reported after it', async () => {
  const { peer, runner } = await startTestRunner(
    { 'tasks/all.ts': file({ waits: day }) },
    {},
    (prepared) => (prepared.leaseMs = 60_000),
  );
  const fence = peer.assign('waits');
  await suspended(peer, fence);
  // Its reply shows that it has processed the suspension.
  const probe = peer.assign('waits');
  await peer.until(() => waitsOf(peer, probe).length === 1);
  peer.welcomes = false;
  peer.cut();
  await peer.until(() => peer.hellos.length === 2);
  expect(peer.hellos[1]?.leased).toEqual([fence, probe]);
  const [pid] = runner.pids();
  process.kill(pid as number, 'SIGKILL');
  await expect.poll(() => runner.pids(), { timeout: 20_000 }).not.toContain(pid);
  peer.welcome();
  await peer.until(() => peer.received.some(({ type }) => type === 'detach'));
  expect(peer.received.filter(({ type }) => type === 'detach')).toEqual([
    { type: 'detach', fences: [fence] },
  ]);
});

test('a runner that receives a stop signal releases waiting attempts immediately', async () => {
  const { peer, runner } = await startTestRunner({ 'tasks/all.ts': file({ waits: day }) });
  const first = peer.assign('waits');
  await suspended(peer, first);
  const second = peer.assign('waits');
  await peer.until(() => waitsOf(peer, second).length === 1);
  const stopping = runner.stop();
  await peer.until(() => peer.received.some(({ type }) => type === 'detach'));
  peer.send({ type: 'waited', attempts: [{ fence: second, state: 'suspended', suspension: 2, keys: [] }] });
  await stopping;
  expect(peer.received.flatMap((message) => (message.type === 'detach' ? message.fences : []))).toEqual([
    first,
    second,
  ]);
  expect(peer.outcomes.size).toBe(0);
});
