import { expect, test } from 'vitest';
import { presetOf } from './machines.ts';

test.each([
  [{}, undefined],
  [{ preset: 'micro', cpu: 4 }, 'micro'],
  [{ cpu: 1 }, 'small-2x'],
  [{ memory: 2 }, 'medium-1x'],
  [{ cpu: 0.5, memory: 8 }, 'large-1x'],
  [{ cpu: 64, memory: 1 }, '64 CPUs with 1 GiB'],
])('the machine %j is the preset %s', (machine, preset) => {
  expect(presetOf(machine)).toBe(preset);
});
