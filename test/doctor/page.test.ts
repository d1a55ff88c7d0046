import { expect, test } from 'vitest';
import { doctorPage, groups } from './page.ts';

test('docs/doctor.md says what the checks say', async () => {
  await expect(doctorPage()).toMatchFileSnapshot('../../docs/doctor.md');
});

test('every check has a name of its own, and says what it looks at, why, and how to fix it', () => {
  const checks = groups.flatMap(([, all]) => all);
  expect(new Set(checks.map(({ name }) => name)).size).toBe(checks.length);
  for (const { name, looksAt, why, fix } of checks) {
    expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(looksAt.length, name).toBeGreaterThan(10);
    expect(why, name).toMatch(/\.$/);
    expect(fix.length, name).toBeGreaterThan(10);
  }
});
