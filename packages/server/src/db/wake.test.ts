import { expect, onTestFinished, test, vi } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { createLog } from '../logger.ts';
import { startClock } from './clock.ts';
import { connect } from './connect.ts';
import { startWakes, type Wake } from './wake.ts';

/** Processes of one database that never announce themselves again. */
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
