import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { Connection } from './connection.ts';
import { startRunner } from '../../../millrace/src/serve-folder/start.ts';
import { Peer } from './testing/peer.ts';
import { createProject } from './testing/project.ts';
import { startTestRunner, tasksFile } from './testing/runner.ts';

test('after a lost connection, the runner reconnects with its name and attempts, and sends unconfirmed outcomes again', async () => {
  const { peer, runner } = await startTestRunner({
    'tasks/all.ts': tasksFile({
      quick: 'return 1;',
      slow: "console.log('began'); await sleep(600); return 2;",
    }),
  });
  peer.confirms = false;
  const [quick, slow] = [peer.assign('quick'), peer.assign('slow')];
  await peer.outcome(quick);
  await peer.line(`run_${slow}`, 'began');
  peer.outcomes.clear();
  peer.confirms = true;
  peer.cut();
  await peer.until(() => peer.hellos.length === 2);
  expect(peer.hellos[1]).toMatchObject({
    runner: runner.id,
    leased: expect.arrayContaining([quick, slow]) as number[],
  });
  expect(peer.hellos[1]?.versions).toEqual([peer.version]);
  expect(await peer.outcome(quick)).toMatchObject({ kind: 'completed', output: '1' });
  expect(await peer.outcome(slow)).toMatchObject({ kind: 'completed', output: '2' });
});

test('attempts lost in the meantime are stopped without an outcome', async () => {
  const { peer } = await startTestRunner({
    'tasks/all.ts': tasksFile({
      slow: "signal.addEventListener('abort', () => console.log('stopped')); console.log('began'); await sleep(60_000, undefined, { signal });",
      quick: '',
    }),
  });
  const slow = peer.assign('slow');
  await peer.line(`run_${slow}`, 'began');
  peer.lost = [slow];
  peer.cut();
  await peer.line(`run_${slow}`, 'stopped');
  await peer.outcome(peer.assign('quick'));
  expect(peer.outcomes.has(slow)).toBe(false);
});

test('stops its attempts if the server is silent for the duration of a lease', async () => {
  const { peer } = await startTestRunner(
    {
      'tasks/all.ts': tasksFile({
        slow: "console.log('began'); await sleep(60_000, undefined, { signal });",
        quick: '',
      }),
    },
    {},
    (prepared) => {
      prepared.heartbeatMs = 250;
      // Longer than a busy machine takes to start the attempt.
      prepared.leaseMs = 2_000;
    },
  );
  const slow = peer.assign('slow');
  await peer.line(`run_${slow}`, 'began');
  peer.refuseWith = 503;
  peer.cut();
  // Reconnects only after the leases have expired, when the runner must no longer claim the attempt.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  peer.refuseWith = undefined;
  await peer.until(() => peer.hellos.length === 2);
  expect(peer.hellos[1]?.leased).toEqual([]);
});

test('waits for a slow welcome after a long silence', async () => {
  const { peer, states } = await startTestRunner(
    { 'tasks/all.ts': tasksFile({ quick: '' }) },
    {},
    (prepared) => {
      prepared.heartbeatMs = 200;
      prepared.leaseMs = 3_000;
    },
  );
  peer.refuseWith = 503;
  peer.welcomes = false;
  peer.cut();
  const away = new Promise((resolve) => setTimeout(resolve, 1_700));
  await away;
  peer.refuseWith = undefined;
  await peer.until(() => peer.hellos.length === 2);
  // Shorter than the runner tolerates, but longer than the interval of its checks.
  const slow = new Promise((resolve) => setTimeout(resolve, 500));
  await slow;
  peer.welcome();
  await expect.poll(() => states.at(-1)).toBe('connected');
  expect(peer.hellos).toHaveLength(2);
});

test('returns attempts that wait for a slot longer than a second, and requests fewer', async () => {
  const { peer } = await startTestRunner(
    { 'tasks/all.ts': tasksFile({ slow: 'await sleep(2_500); return "mine";' }) },
    { concurrency: 1 },
  );
  const [first, second] = [peer.assign('slow'), peer.assign('slow')];
  expect(await peer.outcome(second)).toEqual({ kind: 'released' });
  expect(peer.outcomes.has(first)).toBe(false);
  expect(await peer.outcome(first)).toMatchObject({ output: 'mine' });
});

test('a runner with short runs requests more attempts than its slots, until it is idle', async () => {
  const { peer } = await startTestRunner({ 'tasks/all.ts': tasksFile({ quick: '' }) }, { concurrency: 2 });
  const fences = Array.from({ length: 400 }, () => peer.assign('quick'));
  await Promise.all(fences.map((fence) => peer.outcome(fence)));
  const capacities = (): number[] =>
    peer.received.flatMap((message) => (message.type === 'capacity' ? [message.capacity] : []));
  await peer.until(() => capacities().length > 1 && capacities().at(-1) === 2);
  expect(Math.max(...capacities())).toBeGreaterThan(20);
});

test('a stop accepts no new attempts, returns waiting ones, and finishes and confirms active ones', async () => {
  const { peer, runner } = await startTestRunner(
    { 'tasks/all.ts': tasksFile({ slow: "console.log('began'); await sleep(300); return 'finished';" }) },
    { concurrency: 1 },
  );
  const [running, waiting] = [peer.assign('slow'), peer.assign('slow')];
  await peer.line(`run_${running}`, 'began');
  await runner.stop();
  expect(peer.received.some(({ type }) => type === 'drain')).toBe(true);
  expect(await peer.outcome(waiting)).toEqual({ kind: 'released' });
  expect(await peer.outcome(running)).toMatchObject({ output: 'finished' });
  expect(await runner.ended).toBeNull();
});

test('the error for a wrong key does not contain the key', async () => {
  const peer = await new Peer().listen();
  const project = await createProject({ 'tasks/all.ts': tasksFile({ quick: '' }) });
  const secretKey = 'svc_dev_sk_111111111111111111111111';
  const started = startRunner({ url: peer.url, secretKey, projectDir: project.dir, watch: false });
  await expect(started).rejects.toThrow(/does not accept this secret key/);
  await expect(started).rejects.not.toThrow(secretKey);
  await peer.close();
  await project.remove();
});

test('reports a rejection that has only a status and whose body does not end', async () => {
  const server = createServer();
  server.on('upgrade', (_request, socket) =>
    socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 99\r\n\r\n{'),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
  });
  let connection: Connection | undefined;
  const refused = await new Promise<Error>((resolve) => {
    connection = new Connection({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      secretKey: 'svc_dev_sk_111111111111111111111111',
      hello: () => expect.fail('it was refused'),
      onWelcome: () => expect.fail('it was refused'),
      onMessage: () => undefined,
      onState: () => undefined,
      onLeasesLost: () => undefined,
      onRefused: resolve,
    });
  });
  connection?.close();
  expect(refused.message).toMatch(/does not accept this secret key .*403/);
});

test('a busy runner sends pings, by which it notices that only the other end of its connection was reset', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const welcome = { type: 'welcome', heartbeatMs: 60_000, leaseMs: 180_000 };
  server.on('connection', (socket) => socket.send(JSON.stringify(welcome)));
  const pings = { busy: 0, idle: 0 };
  const connect = (name: keyof typeof pings): Connection => {
    server.once('connection', (socket) => socket.on('ping', () => pings[name]++));
    return new Connection({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      secretKey: 'svc_dev_sk_111111111111111111111111',
      hello: () => ({ type: 'hello', runner: name, host: '', pid: 1, capacity: 1, versions: [], leased: [] }),
      isBusy: () => name === 'busy',
      onWelcome: () => undefined,
      onMessage: () => undefined,
      onState: () => undefined,
      onLeasesLost: () => undefined,
      onRefused: (error) => expect.fail(error.message),
    });
  };
  const idle = connect('idle');
  await once(server, 'connection');
  const busy = connect('busy');
  onTestFinished(() => {
    idle.close();
    busy.close();
    server.close();
  });
  await vi.waitFor(() => expect(pings.busy).toBeGreaterThan(1), { timeout: 30_000, interval: 50 });
  expect(pings.idle).toBe(0);
});

test('waits for a silent server until the start is aborted', async () => {
  const project = await createProject({ 'tasks/all.ts': tasksFile({ quick: '' }) });
  const stopping = new AbortController();
  const states: string[] = [];
  const onState = (state: string): void => {
    states.push(state);
    if (states.filter((seen) => seen === 'disconnected').length === 2) stopping.abort();
  };
  const started = startRunner({
    url: 'http://127.0.0.1:1',
    secretKey: 'svc_dev_sk_111111111111111111111111',
    projectDir: project.dir,
    watch: false,
    signal: stopping.signal,
    events: { onState },
  });
  await expect(started).rejects.toThrow('Stopped before');
  await project.remove();
});
