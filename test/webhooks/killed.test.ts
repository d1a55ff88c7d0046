import { once } from 'node:events';
import { expect, test } from 'vitest';
import { signRequest } from '../../packages/server/src/events/webhooks/schemes/index.ts';
import { numRuns } from '../support/long.ts';
import { promote } from '../support/promote.ts';
import { killableServers } from '../support/server-process/killable.ts';
import type { ServerProcess } from '../support/server-process/start.ts';

const rounds = numRuns(8);
const verification = { scheme: 'github' as const, secrets: ['HOOK_SECRET'] };

test('killing a server loses no request that was answered, and starts no run twice', async () => {
  const { sql, start } = await killableServers();
  const servers: ServerProcess[] = [];
  servers.push(await start(), await start());

  const { url, secretKey, projectRef } = servers[0] as ServerProcess;
  const ask = async (path: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${secretKey}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
    return response.json() as Promise<{ data: { url: string }[] }>;
  };
  await ask(`/api/v1/projects/${projectRef}/envvars/prod`, { name: 'HOOK_SECRET', value: 'secret' });
  await ask('/runner/v1/versions', {
    contentHash: 'content-1',
    tasks: [{ id: 'hook', filePath: 't.ts', webhook: { verify: verification } }],
  });
  await promote(url, secretKey);
  const { pathname } = new URL((await ask('/api/v1/webhooks')).data[0]?.url ?? '');

  /** Like a provider: sends the same request to either server until one answers. Returns the id of the delivery. */
  let turn = 0;
  let repeated = 0;
  const deliver = async (id: string): Promise<string> => {
    const body = Buffer.from(JSON.stringify({ id }));
    for (;;) {
      const server = servers[turn++ % 2] as ServerProcess;
      const reply = await fetch(server.url + pathname, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...signRequest(verification, 'secret', { id, at: 0, body }),
        },
        body: new Uint8Array(body),
      })
        .then(async (response) => ({
          status: response.status,
          body: (await response.json()) as { id: string; isDuplicate: boolean },
        }))
        .catch(() => undefined);
      if (reply?.status === 200) {
        if (reply.body.isDuplicate) repeated++;
        return reply.body.id;
      }
      expect([undefined, 500, 503]).toContain(reply?.status);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  let stopped = false;
  const answered = new Map<string, string>();
  const sender = async (name: string): Promise<void> => {
    for (let n = 0; !stopped; n++) answered.set(`${name}-${n}`, await deliver(`${name}-${n}`));
  };
  const senders = Array.from({ length: 8 }, (_, n) => sender(`sender-${n}`));
  for (let round = 0; round < rounds; round++) {
    // The next server starts during this round.
    const successor = start();
    const before = answered.size;
    await expect.poll(() => answered.size, { timeout: 60_000 }).toBeGreaterThan(before + 20);
    const victim = round % 2;
    const dying = servers[victim] as ServerProcess;
    dying.process.kill('SIGKILL');
    await once(dying.process, 'exit');
    servers[victim] = await successor;
  }
  stopped = true;
  await Promise.all(senders);
  // A provider that lost the answer sends the request again.
  for (const [id, delivery] of [...answered].slice(0, 20)) expect(await deliver(id)).toBe(delivery);
  expect(repeated).toBeGreaterThanOrEqual(20);

  const rows = await sql<{ sender_id: string; id: string; runs: string[] }[]>`
    select sender_id, id, run_ids as runs from webhook_deliveries`;
  expect(new Map(rows.map((row) => [row.sender_id, row.id]))).toEqual(answered);
  const runs = await sql<{ id: string; request: string }[]>`
    select id, payload::jsonb ->> 'id' as request from runs where task = 'hook'`;
  expect(runs.map(({ id, request }) => `${request} ${id}`).toSorted()).toEqual(
    rows.map((row) => `${row.sender_id} ${row.runs.join()}`).toSorted(),
  );
}, 240_000);
