import { expect, test, vi } from 'vitest';
import { installation, masterKey } from '../../../../test/access/installation.ts';
import type { Environment } from '../auth/principal.ts';
import { environment } from '../auth/credential-rows.ts';
import { rotateKey } from './rotate-key.ts';

const minute = 60_000;

test.each([-10, 10])('a server whose clock is off by %s minutes creates valid keys', async (off) => {
  const { projectRef, publicIdOf, sql } = await installation();
  const publicId = await publicIdOf('prod');
  const [found] = await sql<{ environment: Environment }[]>`
    select ${environment(sql)} from environments e join projects p on p.id = e.project_id
     where p.ref = ${projectRef} and e.public_id = ${publicId}`;
  if (!found) throw new Error('prod not found');
  const [key] = await sql<{ id: string; now: Date }[]>`
    update secret_keys set created_at = now() - interval '1 minute', expires_at = now() + interval '5 minutes'
     where environment_id = ${found.environment.id} returning id, now()`;
  const principal = {
    kind: 'secretKey',
    credentialId: key?.id ?? '',
    environment: found.environment,
    scopes: ['admin'],
  } as const;
  const by = { principal, origin: { address: '::1', userAgent: undefined, requestId: 'request_1' } };
  const real = Date.now();
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => real + off * minute);
  try {
    const rotated = await rotateKey(sql, masterKey, found.environment, { id: key?.id ?? '' }, 0, by);
    const lasts = Date.parse(rotated.expiresAt ?? '') - (key?.now.getTime() ?? 0);
    expect(Math.abs(lasts - 6 * minute)).toBeLessThan(minute);
  } finally {
    clock.mockRestore();
  }
});
