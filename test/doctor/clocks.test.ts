/** Clocks that differ: of the database, a server, a runner and the machine of the command. */
import { once } from 'node:events';
import type { Diagnosis } from '@millrace/contract';
import type { RunnerMessage } from '@millrace/contract/runner';
import { expect, onTestFinished, test } from 'vitest';
import { serverClock } from '../../packages/millrace/src/doctor/server/server-clock.ts';
import { clockSkew } from '../../packages/server/src/operations/doctor/database/clock-skew.ts';
import { diagnoseDatabase } from '../../packages/server/src/operations/doctor/diagnose.ts';
import { runChecks } from '../../packages/server/src/operations/doctor/run.ts';
import { connect } from '../../packages/server/src/db/connect.ts';
import { eventually } from '../support/eventually.ts';
import { testServer, type TestServer } from '../support/server.ts';

const hourMs = 3_600_000;
const whatOf = ([result]: readonly { readonly findings: readonly { readonly what: string }[] }[]): string[] =>
  result?.findings.map(({ what }) => what) ?? [];

/** A connected runner, whose clock is ahead. */
async function runnerWithClock(server: TestServer, id: string, aheadMs: number) {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/runner/v1/connect`, {
    headers: { authorization: `Bearer ${server.keys.prod}` },
  });
  onTestFinished(() => socket.close());
  await once(socket, 'open');
  const say = (message: RunnerMessage): void => socket.send(JSON.stringify(message));
  const welcome = once(socket, 'message');
  const at = Date.now() + aheadMs;
  say({ type: 'hello', runner: id, host: 'host-1', pid: 1, capacity: 1, versions: [], leased: [], at });
  await welcome;
  return { beat: (ms: number): void => say({ type: 'heartbeat', at: Date.now() + ms }) };
}

test('the clock of a runner differs from that of the database', async () => {
  const server = await testServer();
  const findings = async (): Promise<string[]> => {
    const { body } = await server.ask('/api/v1/doctor', { key: server.personalAccessToken });
    return whatOf((body as Diagnosis).checks.filter(({ name }) => name === 'runner-clocks'));
  };
  await runnerWithClock(server, 'runner_right', 0);
  expect(await findings()).toEqual([]);
  await runnerWithClock(server, 'runner_ahead', hourMs);
  const behind = await runnerWithClock(server, 'runner_behind', -hourMs);
  expect(await findings()).toEqual([
    expect.stringMatching(
      /^The runner runner_ahead on host-1 is (3600\.\d|3599\.\d) s ahead of PostgreSQL\.$/,
    ),
    expect.stringMatching(/^The runner runner_behind on host-1 is 360\d\.\d s behind PostgreSQL\.$/),
  ]);
  // A single message that was delayed is not a wrong clock.
  behind.beat(0);
  behind.beat(-60_000);
  await eventually(findings, (found) => found.length === 1, 10_000);
});

test('the clock of this machine differs from that of the database', async () => {
  const { database } = await testServer();
  const sql = connect(database, { name: 'test', max: 3 });
  onTestFinished(() => sql.end());
  const checks = [clockSkew];
  const at = async (ms: number) =>
    whatOf(await diagnoseDatabase(sql, { checks, wallClock: () => Date.now() + ms }));
  expect(await at(0)).toEqual([]);
  expect(await at(hourMs)).toEqual([
    expect.stringMatching(/^PostgreSQL is (3600\.\d|3599\.\d) s behind the clock of this machine\.$/),
  ]);
  expect(await at(-hourMs)).toEqual([
    expect.stringMatching(/^PostgreSQL is (3600\.\d|3599\.\d) s ahead of the clock of this machine\.$/),
  ]);
});

test('the clock of this machine differs from that of the server', async () => {
  const find = async (aheadMs: number): Promise<string[]> => {
    const now = Date.now();
    const request = { url: '', address: '', isForwarded: false, isTrusted: false };
    const diagnosis = { version: '', at: new Date(now + aheadMs).toISOString(), request, checks: [] };
    const diagnose = async () => ({ diagnosis, requestedAt: now, answeredAt: now });
    const input = { url: '', token: '', key: '', maxSilenceMs: 1, diagnose, requireDiagnosis: diagnose };
    return whatOf(await runChecks([serverClock], input));
  };
  expect(await find(4_000)).toEqual([]);
  expect(await find(60_000)).toEqual(['The server is 60.0 s ahead of this machine.']);
  expect(await find(-hourMs)).toEqual(['The server is 3600.0 s behind this machine.']);
});
