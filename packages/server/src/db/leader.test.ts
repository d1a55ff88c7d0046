import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startSilentProxy, type SilentProxy } from '../../../../test/support/silent-proxy.ts';
import { tcpPostgres, type TcpPostgres } from '../../../../test/support/tcp-postgres.ts';
import { connect } from './connect.ts';
import { DedicatedConnection } from './dedicated.ts';
import { ping } from './ping.ts';

const rules = ['host all boss 127.0.0.1/32 scram-sha-256'];

/** A port at which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

let primary: TcpPostgres;
let standby: TcpPostgres;
beforeAll(async () => {
  primary = await tcpPostgres(rules);
  standby = await tcpPostgres(rules, {}, { standby: true });
}, 60_000);
afterAll(async () => {
  await primary?.stop();
  await standby?.stop();
});

const at = (ports: readonly number[], rest = 'postgres?target_session_attrs=read-write') =>
  `postgresql://boss:b0ss@${ports.map((port) => `127.0.0.1:${port}`).join()}/${rest}`;

const refusal = (url: string): Promise<string> =>
  ping(url).then(
    () => '',
    ({ message }: Error) => message,
  );

test('of several hosts, the one that accepts writes is used, regardless of its position', async () => {
  const dead = await closedPort();
  for (const ports of [
    [primary.port, standby.port, dead],
    [standby.port, dead, primary.port],
  ]) {
    const sql = connect(at(ports), { name: 'test', max: 2 });
    onTestFinished(() => sql.end());
    const [row] = await sql<{ port: number }[]>`select current_setting('port')::int as port`;
    expect(row).toEqual({ port: primary.port });
  }
});

test('an unresolvable name and a host that drops all packets do not delay the search', async () => {
  const silent = await startSilentProxy({ host: '127.0.0.1', port: primary.port });
  onTestFinished(silent.close);
  silent.fallSilent();
  const url = `postgresql://boss:b0ss@nowhere.invalid,127.0.0.1:${silent.port},127.0.0.1:${primary.port}/postgres`;
  const sql = connect(url, { name: 'test', max: 1 });
  onTestFinished(() => sql.end());
  const startedAt = performance.now();
  expect(await sql`select 1 as n`).toEqual([{ n: 1 }]);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

describe('the error for unusable hosts contains the reason for each host', () => {
  test('no host answers', async () => {
    const [first, second] = [await closedPort(), await closedPort()];
    expect(await refusal(at([first, second]))).toBe(
      `The database at 127.0.0.1:${first}, 127.0.0.1:${second}/postgres cannot be used: none of its hosts can be connected to ` +
        `(127.0.0.1:${first}: nothing is listening there; start PostgreSQL, or correct host and port; ` +
        `127.0.0.1:${second}: nothing is listening there; start PostgreSQL, or correct host and port).`,
    );
  });

  test('only standbys', async () => {
    const dead = await closedPort();
    expect(await refusal(at([standby.port, dead]))).toMatch(
      new RegExp(
        `none of its hosts accepts writes \\(127.0.0.1:${standby.port}: it is read-only, like a standby; 127.0.0.1:${dead}: nothing is listening there`,
      ),
    );
  });

  test('a standby as the only host', async () => {
    expect(await refusal(at([standby.port]))).toBe(
      'The database in DATABASE_URL is read-only, like a standby: use the address of the primary.',
    );
  });

  test('hosts that drop all packets, within the connect timeout', async () => {
    const silent = await startSilentProxy({ host: '127.0.0.1', port: primary.port });
    onTestFinished(silent.close);
    silent.fallSilent();
    const startedAt = performance.now();
    expect(await refusal(at([silent.port, silent.port], 'postgres?connect_timeout=1'))).toMatch(
      /none of its hosts can be connected to .*it does not respond/,
    );
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  });
});

describe('a failover', () => {
  let next: TcpPostgres;
  let ways: readonly [SilentProxy, SilentProxy];
  beforeAll(async () => {
    next = await tcpPostgres(rules, {}, { standby: true });
    ways = [
      await startSilentProxy({ host: '127.0.0.1', port: primary.port }),
      await startSilentProxy({ host: '127.0.0.1', port: next.port }),
    ];
  }, 60_000);
  afterAll(async () => {
    for (const way of ways ?? []) await way.close();
    await next?.stop();
  });

  test('is followed by every connection each time', async () => {
    const [first, second] = ways;
    const url = at([first.port, second.port]);
    const sql = connect(url, { name: 'test', max: 2 });
    const listener = connect(url, { name: 'test', max: 1 });
    const dedicated = new DedicatedConnection(
      url,
      { name: 'test' },
      { port: "select current_setting('port')" },
    );
    const news: string[] = [];
    const listening = await listener.listen('news', (text) => news.push(text));
    onTestFinished(async () => {
      await listening.unlisten();
      await Promise.all([
        sql.end({ timeout: 1 }),
        listener.end({ timeout: 1 }),
        dedicated.end({ timeout: 1 }),
      ]);
    });
    const seen = async (): Promise<unknown> => {
      try {
        const [row] = await sql<{ port: string }[]>`select current_setting('port') as port`;
        const [[port] = []] = await dedicated.send('port', []);
        await sql`select pg_notify('news', current_setting('port'))`;
        return [row?.port, port, news.at(-1)];
      } catch (error) {
        return (error as Error).name;
      }
    };
    const leads = async (port: number): Promise<void> => {
      await expect.poll(seen, { timeout: 15_000 }).toEqual(Array(3).fill(String(port)));
    };
    await leads(primary.port);

    // The leader dies silently. For some time there is none; then the standby is promoted.
    first.fallSilent();
    const refusals: unknown[] = [];
    await expect
      .poll(
        async () => {
          await sql`select`.catch((error: unknown) => refusals.push(Object((error as Error).cause).name));
          return refusals.filter((name) => name === 'NoLeader').length;
        },
        { timeout: 20_000, interval: 500 },
      )
      .toBeGreaterThan(2);
    const admin = connect(at([next.port], 'postgres'), { name: 'test', max: 1 });
    onTestFinished(() => admin.end());
    await admin`select pg_promote()`;
    await leads(next.port);

    // The old leader is back, and the new one is killed.
    first.lead({ host: '127.0.0.1', port: primary.port });
    second.fallSilent();
    second.lead({ host: '127.0.0.1', port: 1 });
    second.reset();
    await leads(primary.port);
    expect(listening.reopened).toBeGreaterThan(1);
  }, 90_000);
});

test('a session whose primary became read-only is replaced after the first write that it rejects', async () => {
  const url = at([primary.port], 'postgres');
  const sql = connect(url, { name: 'test', max: 1 });
  onTestFinished(() => sql.end());
  const [before] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  await sql`set default_transaction_read_only to on`;
  await expect(sql`create table never ()`).rejects.toMatchObject({ code: '25006' });
  const [after] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  expect(after?.pid).not.toBe(before?.pid);
  await sql`create temporary table now ()`;
});
