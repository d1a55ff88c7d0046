import { expect, test } from 'vitest';
import { newTimedId } from '../../../packages/server/src/db/ids.ts';
import { numRuns } from '../../support/long.ts';
import { killableServers } from '../../support/server-process/killable.ts';
import type { ServerProcess } from '../../support/server-process/start.ts';

const kills = numRuns(6);
const many = 1_000 * kills;

test('a bulk replay continues through kills of both servers, and replays each run once', async () => {
  const { sql, start } = await killableServers();
  const servers: ServerProcess[] = [];
  servers.push(await start(), await start());

  const ask = async (method: string, route: string, body?: unknown): Promise<Record<string, unknown>> => {
    const { url, secretKey } = servers[0] as ServerProcess;
    const response = await fetch(url + route, {
      method,
      headers: { authorization: `Bearer ${secretKey}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect(response.ok).toBe(true);
    return (await response.json()) as Record<string, unknown>;
  };
  const first = await ask('POST', '/api/v1/tasks/echo/trigger', { payload: 0 });
  const ids = Array.from({ length: many }, (_, n) => newTimedId('run', Date.now() - 60_000 - n));
  await sql`
    insert into runs (env, id, task, status, queue_id, sort_key, created_at, finished_at, tags)
    select r.env, i.id, 'echo', 'FAILED', r.queue_id, 0, now() - interval '1 minute', now(), '{old}'
      from runs r, unnest(${ids}::text[]) as i (id) where r.id = ${String(first['id'])}`;
  await sql`
    insert into run_facets select distinct r.env, 'tag:old', left(r.id, 10) from runs r where r.tags = '{old}' on conflict do nothing`;

  const { id } = await ask('POST', '/api/v1/bulk-actions', { action: 'replay', filter: { tag: 'old' } });
  const doneOf = async (): Promise<number> => {
    const [row] = await sql<{ done: number }[]>`select success + failure as done from bulk_actions`;
    return row?.done ?? 0;
  };
  for (let kill = 1; kill <= kills; kill += 1) {
    // Each time in the middle, at a different point.
    await expect
      .poll(doneOf, { timeout: 20_000, interval: 3 })
      .toBeGreaterThanOrEqual((many / (kills + 2)) * kill);
    const victims = kill % 3 === 0 ? servers.splice(0) : servers.splice(kill % 2, 1);
    for (const { process } of victims) process.kill('SIGKILL');
    for (const _ of victims) servers.push(await start());
  }
  await expect
    .poll(async () => (await ask('GET', `/api/v1/bulk-actions/${String(id)}`))['status'], { timeout: 40_000 })
    .toBe('COMPLETED');
  expect(await ask('GET', `/api/v1/bulk-actions/${String(id)}`)).toMatchObject({
    counts: { total: many, success: many, failure: 0 },
  });
  const created = await sql<{ replay_of: string; count: number }[]>`
    select replay_of, count(*)::int as count from runs where replay_of is not null group by 1`;
  expect(created).toHaveLength(many);
  expect(created.every(({ count }) => count === 1)).toBe(true);
}, 120_000);
