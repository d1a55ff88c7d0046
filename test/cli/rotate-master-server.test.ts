/** A change of the master key on an external PostgreSQL: several server processes, keys in the settings, kills in the middle. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { masterKeyOf } from '../../packages/server/src/auth/seal.ts';
import { connect, type Database } from '../../packages/server/src/db/connect.ts';
import { testServer } from '../support/server.ts';
import { millrace, temporaryProject, type Running } from './command.ts';
import { finished } from './in-process.ts';

const [old, next] = ['01'.repeat(32), 'cd'.repeat(32)];
const keyOf = (hex: string) => masterKeyOf(Buffer.from(hex, 'hex'));
const both = { MILLRACE_MASTER_KEY: next, MILLRACE_MASTER_KEY_PREVIOUS: old };
const many = Object.fromEntries(Array.from({ length: 700 }, (_, at) => [`N${at}`, `value ${at}`]));

function urlOf(database: Database): string {
  if (typeof database === 'string') return database;
  const { host, port = 5_432, database: name, username, password = '' } = database;
  return `postgresql://${username}:${password}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`;
}

describe('millrace keys rotate-master with DATABASE_URL', () => {
  test(
    'continues after kills of the command and of a server, while servers that know both keys serve',
    { timeout: 120_000 },
    async () => {
      // The first process has received the new key, and still seals with the old one.
      const first = await testServer({ masterKey: { ...keyOf(old), previous: keyOf(next) } });
      const folder = await temporaryProject({});
      const started: Running[] = [];
      onTestFinished(async () => {
        for (const each of started) each.kill('SIGKILL');
        await Promise.all(started.map((each) => each.exitCode));
        await folder.remove();
      });
      const DATABASE_URL = urlOf(first.database);
      const run = (args: readonly string[], env: Record<string, string>) => {
        const running = millrace(args, { cwd: folder.path, env: { DATABASE_URL, ...env } });
        started.push(running);
        return running;
      };
      const serve = async (env: Record<string, string>) => {
        const running = run(['start', '--port', '0', '--json'], env);
        const { url } = JSON.parse(await running.line(/^\{"url"/)) as { url: string };
        return { running, url };
      };
      const call = async (url: string, path: string, body?: object) => {
        const response = await fetch(`${url}/api/v1/projects/${first.projectRef}/${path}`, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { authorization: `Bearer ${first.keys.prod}` },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        return { status: response.status, body: (await response.json()) as { variables: object } };
      };
      const servesAll = async (url: string) => {
        const { status, body } = await call(url, 'envvars');
        expect(status).toBe(200);
        expect(body.variables).toMatchObject(many);
      };
      expect((await call(first.url, 'envvars/prod/import', { variables: many })).status).toBe(200);
      const second = await serve(both);
      await servesAll(second.url);

      // A lock on one variable stops the command in the middle: earlier tables are sealed with the new key, this one is not.
      const sql = connect(first.database, { name: 'test', max: 2 });
      onTestFinished(() => sql.end());
      const sealedWith = async (hex: string) => {
        const prefix = `\\x01${keyOf(hex).id.toString('hex')}`;
        const [row] = await sql<{ count: number }[]>`
        select ((select count(*) from variables where substring(sealed for 5) = ${prefix}::bytea)
              + (select count(*) from variable_changes where substring(sealed for 5) = ${prefix}::bytea))::int as count`;
        return row?.count ?? 0;
      };
      const sessions = async (waiting: boolean) =>
        (
          await sql`
          select from pg_stat_activity where application_name = 'millrace keys' and datname = current_database()
             and (not ${waiting}::boolean or wait_event_type = 'Lock')`
        ).length;
      await sql.begin(async (tx) => {
        await tx`select from variables for update`;
        const changing = run(['keys', 'rotate-master', '--json'], both);
        await expect.poll(() => sessions(true), { timeout: 30_000 }).toBe(1);
        changing.kill('SIGKILL');
        second.running.kill('SIGKILL');
        await Promise.all([changing.exitCode, second.running.exitCode]);
      });
      await expect.poll(() => sessions(false), { timeout: 30_000 }).toBe(0);
      expect([await sealedWith(old), await sealedWith(next)]).toEqual([700, 700]);

      const third = await serve(both);
      for (const { url } of [first, third]) {
        await servesAll(url);
        expect((await call(url, 'envvars/prod', { name: 'DURING', value: url })).status).toBe(200);
      }
      await first.close();
      const rotated = await finished(['keys', 'rotate-master', '--json'], {
        cwd: folder.path,
        env: { DATABASE_URL, ...both },
      });
      expect(rotated).toMatchObject({ exitCode: 0, stderr: '' });
      expect((JSON.parse(rotated.stdout) as { resealed: number }).resealed).toBeGreaterThanOrEqual(700);
      expect(await sealedWith(old)).toBe(0);
      await servesAll(third.url);
      third.running.kill('SIGTERM');
      expect(await third.running.exitCode).toBe(0);

      // Nothing needs the old key any longer.
      const last = await serve({ MILLRACE_MASTER_KEY: next });
      await servesAll(last.url);
    },
  );
});
