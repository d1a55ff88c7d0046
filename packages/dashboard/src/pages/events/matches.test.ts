import { expect, test } from 'vitest';
import { matchesName } from './matches.ts';

// The table of docs/events.md.
test.each([
  ['order.paid', 'order.paid', true],
  ['order.*', 'order.paid', true],
  ['order.*', 'order', false],
  ['order.*', 'order.item.added', false],
  ['order.**', 'order.paid', true],
  ['order.**', 'order.item.added', true],
  ['order.**', 'order', false],
  ['**', 'anything.at.all', true],
  ['*.paid', 'order.paid', true],
  ['*.paid', 'order.sent', false],
])('%s and %s: %s', (subscription, event, expected) => {
  expect(matchesName(subscription, event)).toBe(expected);
});
