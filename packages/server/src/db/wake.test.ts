import { expect, onTestFinished, test, vi } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { pgbouncer, startPgbouncer, unlessMissing } from '../../../../test/support/pgbouncer.ts';
import { createLog } from '../logger.ts';
import { startClock } from './clock.ts';
import { connect } from './connect.ts';
import { startWakes, type Wake } from './wake.ts';

/** Processes of one database that announce themselves only once. */
async function processes() {
  const { connection, drop } = await testDatabase();
  const sql = connect(connection, { name: 'test', max: 2 });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const clock = await startClock(sql);
  const stops: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    for (const stop of stops) await stop();
    clock.stop();
    vi.useRealTimers();
    await sql.end();
    await drop();
  });
  return async () => {
    const wakes = await startWakes(sql, createLog({ write() {} }), clock);
    stops.push(wakes.stop);
    const received: Wake[] = [];
    wakes.listen((wake) => received.push(wake));
    return { notify: wakes.notify, received };
  };
}

test('existing processes receive the wakes of a new one', async () => {
  const start = await processes();
  const first = await start();
  const second = await start();
  // Not `expect.poll`: it could wait until the next announcement.
  for (let n = 0; n < 500 && first.received.length === 0; n++) {
    second.notify({ kind: 'queued', env: 1 });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(first.received).toContainEqual({ kind: 'queued', env: 1 });
});

test('wakes that exceed one notification are sent in several', async () => {
  const start = await processes();
  const teller = await start();
  const hearer = await start();
  const receivedCount = () => {
    teller.notify({ kind: 'queued', env: 1 });
    return hearer.received.length;
  };
  await expect.poll(receivedCount, { timeout: 15_000 }).toBeGreaterThan(0);
  const fences = Array.from({ length: 100 }, (_, n) => 1_000_000 + n);
  for (let n = 0; n < 40; n++) teller.notify({ kind: 'cancel', runner: `runner ${n}`, fences });
  const cancelled = () => hearer.received.filter((wake) => wake.kind === 'cancel').length;
  await expect.poll(cancelled, { timeout: 15_000 }).toBe(40);
});

test.skipIf(pgbouncer === undefined)(
  `notifications that do not arrive, as through a pooler in transaction mode, are noticed, and the connection is replaced${unlessMissing}`,
  async () => {
    const { connection, drop } = await testDatabase();
    onTestFinished(drop);
    const { url } = await startPgbouncer(connection, 'transaction');
    const sql = connect(connection, { name: 'test', max: 2 });
    const pooler = { mode: 'transaction', namedStatements: false } as const;
    const pooled = connect(url, { name: 'test', max: 1, pooler });
    const clock = await startClock(sql);
    const logged: string[] = [];
    const log = createLog({ write: (line) => void logged.push(line) });
    const { delivery, stop } = await startWakes(sql, log, clock, pooled);
    onTestFinished(async () => {
      await stop();
      clock.stop();
      await Promise.all([sql.end(), pooled.end()]);
    });
    const isReplaced = () => delivery.reopened > 0 && delivery.missingMs > 5_000;
    await expect.poll(isReplaced, { timeout: 20_000 }).toBe(true);
    expect(logged.join('\n')).toContain('listener.silent');
  },
  40_000,
);
