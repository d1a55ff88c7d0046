import { describe, expect, test } from 'vitest';
import { errorGroupId } from './group-id.ts';

describe('the id of a group', () => {
  test('differs by environment, by task and by fingerprint', () => {
    const ids = [
      errorGroupId('e', 't', 'f'),
      errorGroupId('e2', 't', 'f'),
      errorGroupId('e', 't2', 'f'),
      errorGroupId('e', 't', 'f2'),
      errorGroupId('et', '', 'f'),
    ];
    expect(new Set(ids).size).toBe(5);
    for (const id of ids) expect(id).toMatch(/^error_[0-9a-f]{16}$/);
  });
});
