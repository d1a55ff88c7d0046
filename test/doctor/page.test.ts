import { expect, test } from 'vitest';
import { doctorPage, groups } from './page.ts';

test('docs/doctor.md matches the checks', async () => {
  await expect(doctorPage()).toMatchFileSnapshot('../../docs/doctor.md');
});

test('every check has a unique name, a description, an impact and a fix', () => {
  const checks = groups.flatMap(([, all]) => all);
  expect(new Set(checks.map(({ name }) => name)).size).toBe(checks.length);
  for (const { name, condition, why, fix } of checks) {
    expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(condition.length, name).toBeGreaterThan(10);
    expect(why, name).toMatch(/\.$/);
    expect(fix.length, name).toBeGreaterThan(10);
  }
});
