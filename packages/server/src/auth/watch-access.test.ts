import { describe, expect, onTestFinished, test } from 'vitest';
import { installation } from '../../../../test/access/installation.ts';
import { connect, type Sql } from '../db/connect.ts';
import { testDatabase } from '../../../../test/support/database.ts';
import { startAccessWatcher } from './watch-access.ts';
import type { Principal } from './principal.ts';

const started = (sql: Sql) => {
  const access = startAccessWatcher(sql);
  onTestFinished(() => access.stop());
  return access;
};

async function principals(count: number) {
  const { sql, ask, projectRef } = await installation();
  const [environment] = await sql<{ id: number; projectId: number }[]>`
    select id, project_id as "projectId" from environments where kind = 'prod'`;
  const created: Principal[] = [];
  for (let n = 0; n < count; n++) {
    const { body } = await ask(`POST /api/v1/projects/${projectRef}/prod/keys`, { body: { name: `k${n}` } });
    created.push({
      kind: 'secretKey',
      credentialId: body.id as string,
      environment: { ...environment!, publicId: 'env', kind: 'prod', branch: null, projectRef },
      scopes: ['admin'],
    });
  }
  return { sql, created };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('long-lived requests of callers', () => {
  test('are checked with one statement, or with none if no request is open', async () => {
    const { sql, created } = await principals(3);
    const access = started(sql);
    await pause(1_000);
    expect(access.checks).toBe(0);
    const ended: number[] = [];
    const releases = Array.from({ length: 900 }, (_, n) =>
      access.watch(created[n % 3]!, () => void ended.push(n % 3)),
    );
    await pause(2_500);
    expect(access.checks).toBeGreaterThan(0);
    expect(access.checks).toBeLessThanOrEqual(4);
    expect(ended).toEqual([]);
    await sql`update secret_keys set revoked_at = now() where id = ${created[1]!.credentialId}`;
    access.checkNow();
    await expect.poll(() => ended.length).toBe(300);
    expect(new Set(ended)).toEqual(new Set([1]));
    for (const release of releases) release();
    const before = access.checks;
    await pause(1_800);
    expect(access.checks - before).toBeLessThanOrEqual(1);
    expect(ended).toHaveLength(300);
  });

  test('continue while the database is unavailable, unless the credential has expired', async () => {
    const { connection, drop } = await testDatabase();
    const sql = connect(connection, { name: 'test', max: 1 });
    const access = started(sql);
    await sql.end();
    await drop();
    const ended: string[] = [];
    const token = (name: string, expiresAt: number): Principal => ({
      kind: 'publicToken',
      credentialId: 'key_1',
      environment: { id: 1, publicId: 'e', kind: 'prod', branch: null, projectId: 1, projectRef: 'p' },
      scopes: [],
      tokenDigest: name,
      signerId: 'key_1',
      expiresAt: new Date(expiresAt),
    });
    access.watch(token('short', Date.now() + 300), () => void ended.push('short'));
    access.watch(token('long', Date.now() + 60_000), () => void ended.push('long'));
    await expect.poll(() => ended).toEqual(['short']);
    await pause(1_600);
    expect(ended).toEqual(['short']);
  });
});
