import { expect, test } from 'vitest';
import { numRuns } from '../support/long.ts';
import { killableServers } from '../support/server-process/killable.ts';
import { tablesWith } from '../support/tables-with.ts';
import { addEndedRuns } from './ended-runs.ts';

const kills = numRuns(4);
const many = 2_500 * kills;

test('an erasure continues through kills of the server, and erases each run once', async () => {
  const { sql, start } = await killableServers();
  let server = await start();
  const ask = async (method: string, route: string, body?: unknown): Promise<Record<string, unknown>> => {
    const { url, secretKey } = server;
    const response = await fetch(url + route, {
      method,
      headers: { authorization: `Bearer ${secretKey}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect(response.ok).toBe(true);
    return (await response.json()) as Record<string, unknown>;
  };
  const { id: first } = await ask('POST', '/api/v1/tasks/echo/trigger', { payload: 'live-payload' });
  await addEndedRuns(sql, String(first), { count: many, text: 'ada-lovelace' });

  const { id } = await ask('POST', '/api/v1/erasures', { filter: { tag: 'ada-lovelace' } });
  const erased = async (): Promise<number> => {
    const [row] = await sql<{ erased: number }[]>`select erased from erasures`;
    return row?.erased ?? 0;
  };
  for (let kill = 1; kill <= kills; kill += 1) {
    // Each time in the middle, at a different point.
    await expect
      .poll(erased, { timeout: 20_000, interval: 3 })
      .toBeGreaterThanOrEqual((many / (kills + 2)) * kill);
    server.process.kill('SIGKILL');
    server = await start();
  }
  const state = () => ask('GET', `/api/v1/erasures/${String(id)}`);
  await expect.poll(async () => (await state())['status'], { timeout: 40_000 }).toBe('COMPLETED');
  expect(await state()).toMatchObject({ counts: { erased: many, skipped: 0 } });
  const [counts] = await sql<{ erased: number; others: number }[]>`
    select count(*) filter (where erased_at is not null)::int as erased, count(*) filter (where erased_at is null)::int as others from runs`;
  expect(counts).toEqual({ erased: many, others: 1 });
  // The request is in the audit log.
  expect(await tablesWith(sql, 'ada-lovelace')).toEqual(['audit_log']);
}, 120_000);
