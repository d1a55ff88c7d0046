import { describe, expect, onTestFinished, test } from 'vitest';
import { masterKeyOf } from '../../packages/server/src/auth/seal.ts';
import { temporaryProject } from '../cli/command.ts';
import { finished } from '../cli/in-process.ts';
import { testDatabase } from '../support/database.ts';
import { pgbouncer, startPgbouncer, unlessMissing } from '../support/pgbouncer.ts';
import { testServer } from '../support/server.ts';

const [old, next] = ['01'.repeat(32), 'cd'.repeat(32)];
const keyOf = (hex: string) => masterKeyOf(Buffer.from(hex, 'hex'));

describe.skipIf(pgbouncer === undefined)(`keys rotate-master through PgBouncer${unlessMissing}`, () => {
  test.each(['transaction', 'session'] as const)('in %s mode re-encrypts everything', async (mode) => {
    const { connection, drop } = await testDatabase();
    onTestFinished(drop);
    const folder = await temporaryProject({});
    onTestFinished(() => folder.remove());
    const pooler = await startPgbouncer(connection, mode, { default_pool_size: 20 });
    const variables = Object.fromEntries(Array.from({ length: 700 }, (_, at) => [`N${at}`, `value ${at}`]));
    const before = await testServer({ database: connection, masterKey: keyOf(old) });
    const path = `/api/v1/projects/${before.projectRef}/envvars`;
    const imported = await before.ask(`${path}/prod/import`, { method: 'POST', body: { variables } });
    expect(imported.status).toBe(200);
    await before.close();

    const rotated = await finished(['keys', 'rotate-master', '--json'], {
      cwd: folder.path,
      env: { DATABASE_URL: pooler.url, MILLRACE_MASTER_KEY: next, MILLRACE_MASTER_KEY_PREVIOUS: old },
    });
    expect(rotated).toMatchObject({ exitCode: 0, stderr: '' });
    expect((JSON.parse(rotated.stdout) as { resealed: number }).resealed).toBeGreaterThanOrEqual(700);
    const again = await finished(['keys', 'rotate-master', '--json'], {
      cwd: folder.path,
      env: { DATABASE_URL: pooler.url, MILLRACE_MASTER_KEY: next, MILLRACE_MASTER_KEY_PREVIOUS: old },
    });
    expect(JSON.parse(again.stdout)).toEqual({ resealed: 0 });
  });
});
