import { once } from 'node:events';
import { expect, test } from 'vitest';
import { startReceiver } from '../../packages/server/src/notifications/testing/receiver.ts';
import { numRuns } from '../support/long.ts';
import { promote } from '../support/promote.ts';
import { killableServers } from '../support/server-process/killable.ts';
import type { ServerProcess } from '../support/server-process/start.ts';

const rounds = numRuns(8);

test('killing two servers neither loses nor duplicates events and notifications', async () => {
  const { sql, start } = await killableServers();
  const servers: ServerProcess[] = [];
  const receiver = await startReceiver();
  servers.push(await start());
  servers.push(await start());

  /** Sends the request to each server in turn until one responds, as a client does that does not know whether its request succeeded. */
  let turn = 0;
  const post = async (path: string, body: unknown): Promise<void> => {
    for (;;) {
      const { url, secretKey } = servers[turn++ % 2] as ServerProcess;
      const status = await fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${secretKey}` },
        body: JSON.stringify(body),
      }).then(
        (response) => response.status,
        () => 0,
      );
      if (status === 200) return;
      expect([0, 500, 503]).toContain(status);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const { projectRef } = servers[0] as ServerProcess;
  await post(`/api/v1/projects/${projectRef}/notifications/prod/endpoints`, {
    url: receiver.url,
    types: ['deployment.registered'],
  });
  const tasks = [
    { id: 'one', filePath: 't.ts', on: { name: 'x.*' } },
    { id: 'two', filePath: 't.ts', on: { name: 'x.y', filter: { n: { $gte: 0 } } } },
  ];
  let versions = 0;
  const register = () => post('/runner/v1/versions', { contentHash: `content-${++versions}`, tasks });
  await register();
  await promote((servers[0] as ServerProcess).url, (servers[0] as ServerProcess).secretKey);

  let stopped = false;
  const sent: string[] = [];
  const sender = async (name: string): Promise<void> => {
    for (let n = 0; !stopped; n++) {
      const id = `${name}-${n}`;
      sent.push(id);
      await post('/api/v1/events', {
        id,
        event: { name: 'x.y', payload: { n }, ...(n % 2 === 1 && { deliverAfter: 0.3 }) },
      });
    }
  };
  const senders = Array.from({ length: 6 }, (_, n) => sender(`sender-${n}`));
  for (let round = 0; round < rounds; round++) {
    await register();
    // The next server starts during this round.
    const successor = start();
    await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 700));
    const victim = round % 2;
    const dying = servers[victim] as ServerProcess;
    const registered = register();
    dying.process.kill('SIGKILL');
    await once(dying.process, 'exit');
    servers[victim] = await successor;
    await registered;
  }
  stopped = true;
  await Promise.all(senders);

  const left = async (): Promise<number> => {
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from pending_events`;
    return row?.count ?? -1;
  };
  await expect.poll(left, { timeout: 10_000, interval: 50 }).toBe(0);
  // Joined, because separate lookups for some thousands of events would take most of a minute.
  const rows = await sql<{ id: string; runs: string[]; created: string[] }[]>`
    select e.id, e.run_ids as runs, coalesce(m.created, '{}') as created
      from events e
      left join (select r.event::jsonb ->> 'id' as event, array_agg(r.id) as created from runs r group by 1) m on m.event = e.id`;
  expect(rows.map(({ id }) => id).toSorted()).toEqual(sent.toSorted());
  expect(sent.length).toBeGreaterThan(25 * rounds);
  for (const { runs, created } of rows) {
    expect(created).toHaveLength(2);
    expect(runs.toSorted()).toEqual(created.toSorted());
  }

  // A delivery attempt whose process died is repeated under the same id: the receiver gets each notification at least once, as one message.
  const known = await sql<{ version: string }[]>`select version from versions`;
  expect(known).toHaveLength(versions);
  await sql`update notification_deliveries set due = now() where due is not null`;
  const delivered = () =>
    new Map(
      receiver.received.map(({ headers, body }) => [headers['webhook-id'], String(body.data['version'])]),
    );
  await expect
    .poll(() => [...delivered().values()].toSorted(), { timeout: 10_000, interval: 50 })
    .toEqual(known.map(({ version }) => version).toSorted());
}, 240_000);
