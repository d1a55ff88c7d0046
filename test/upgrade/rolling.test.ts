import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../packages/server/src/db/connect.ts';
import { testDatabase } from '../support/database.ts';
import { startProject } from '../support/project.ts';
import { startServerProcess, type ServerProcess } from '../support/server-process/start.ts';
import { sqlRelease } from '../support/sql-release.ts';

const files = {
  'tasks/quick.ts': `
    import { task } from '@millrace/sdk';
    export const quick = task({ id: 'quick', run: async (payload: { n: number }) => payload.n });
  `,
};

/** Triggers runs on a server until it is stopped; resolves to their ids, or to the first error. */
function load({ url, secretKey }: ServerProcess) {
  let isOver = false;
  const ids: string[] = [];
  const worker = async (): Promise<void> => {
    while (!isOver) {
      const response = await fetch(`${url}/api/v1/tasks/quick/trigger`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
        // some by the fast path, some by the function
        body: JSON.stringify({
          payload: { n: 1 },
          options: ids.length % 2 === 0 ? {} : { tags: ['tagged'], ttl: '1h' },
        }),
      });
      const body = (await response.json()) as { id: string };
      if (!response.ok) throw new Error(`${response.status}: ${JSON.stringify(body)}`);
      ids.push(body.id);
    }
  };
  const all = Promise.all(Array.from({ length: 8 }, worker));
  all.catch(() => {});
  return {
    ids,
    async stop(): Promise<readonly string[]> {
      isOver = true;
      await all;
      return ids;
    },
  };
}

/** Sends a notification each time the function is called. */
const announcing = (channel: string) => (text: string) => {
  expect(text).toContain('\nbegin\n');
  return text.replace('\nbegin\n', `\nbegin\n  perform pg_notify('${channel}', '');\n`);
};

test(
  'a newer server that changes functions starts next to an older one under load, and nothing fails',
  { timeout: 120_000 },
  async () => {
    const { connection, drop } = await testDatabase();
    const sql = connect(connection, { name: 'test', max: 4 });
    onTestFinished(async () => {
      await sql.end({ timeout: 1 });
      await drop();
    });
    const calls: Record<string, number> = {};
    const channels = ['newer_claim', 'newer_settle', 'newer_trigger'];
    for (const channel of channels) {
      await sql.listen(channel, () => void (calls[channel] = (calls[channel] ?? 0) + 1));
    }
    const older = await startServerProcess({ database: connection });
    await startProject({ url: older.url, keys: { prod: older.secretKey } }, files);
    const first = load(older);
    await expect.poll(() => first.ids.length, { timeout: 30_000 }).toBeGreaterThan(200);
    expect(calls).toEqual({});

    const folder = await sqlRelease({
      version: '99.0.0',
      functions: {
        'runs/dispatch/claim_runs': announcing('newer_claim'),
        'runs/complete/complete_attempts': announcing('newer_settle'),
        'runs/create/create_runs': announcing('newer_trigger'),
        // its trigger is recreated, which locks the runs table
        'runs/waits/end_waits_for_run': (text) => text.replace('return null;', 'return new;'),
      },
    });
    const newer = await startServerProcess({ database: connection, folder: folder.href });
    const second = load(newer);
    // The older server calls the new function immediately: completion uses its runner's connection.
    await expect.poll(() => Object.keys(calls).toSorted(), { timeout: 30_000 }).toEqual(channels);
    const seen = first.ids.length;
    await expect.poll(() => first.ids.length, { timeout: 30_000 }).toBeGreaterThan(seen + 200);

    // An older server that restarts in the middle of the upgrade does not revert functions.
    const again = await startServerProcess({ database: connection });
    const third = load(again);
    await expect.poll(() => third.ids.length, { timeout: 30_000 }).toBeGreaterThan(100);
    const [row] = await sql<
      { text: string }[]
    >`select prosrc as text from pg_proc where proname = 'claim_runs'`;
    expect(row?.text).toContain('newer_claim');

    const ids = (await Promise.all([first.stop(), second.stop(), third.stop()])).flat();
    const unfinished = () =>
      sql`select id, status, error from runs where id = any (${ids}::text[]) and status is distinct from 'COMPLETED'`;
    await expect.poll(unfinished, { timeout: 60_000, interval: 200 }).toEqual([]);
    expect((await sql`select from runs where attempt <> 1`).length).toBe(0);
    for (const server of [older, newer, again]) {
      expect(server.process.exitCode !== null).toBe(false);
      expect(server.log()).toBe('');
    }
  },
);
