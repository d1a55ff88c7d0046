import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compact, inFull } from './compact.ts';
import type { Assignment } from './assignment.ts';

const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const assignment: fc.Arbitrary<Assignment> = fc.record({
  run: fc.string(),
  fence: fc.nat(),
  attempt: fc.integer({ min: 1 }),
  task: fc.string(),
  version: fc.string(),
  payload: nullable(fc.string()),
  payloadType: fc.constantFrom('application/json', 'text/plain'),
  metadata: nullable(fc.json()),
  tags: fc.array(fc.string()),
  isTest: fc.boolean(),
  queue: fc.constantFrom('task/a', 'orders'),
  concurrencyKey: nullable(fc.string()),
  maxAttempts: nullable(fc.nat()),
  maxDuration: nullable(fc.nat()),
  machine: nullable(fc.constant('micro')),
  priority: fc.integer(),
  createdAt: fc.nat(),
  startedAt: nullable(fc.nat()),
  parentRun: nullable(fc.string()),
  rootRun: nullable(fc.string()),
  batch: nullable(fc.string()),
  schedule: nullable(fc.string()),
  event: nullable(fc.json()),
  traceparent: nullable(fc.string()),
  replayOf: nullable(fc.string()),
  idempotencyKey: nullable(fc.string()),
  idempotencyKeyScope: nullable(fc.constantFrom('run', 'attempt', 'global')),
  region: nullable(fc.string()),
});

test('arrives unchanged', () => {
  fc.assert(
    fc.property(assignment, (sent) => {
      expect(inFull(JSON.parse(JSON.stringify(compact(sent))))).toEqual(sent);
    }),
  );
});

test('omits default values', () => {
  const sent = inFull({
    run: 'run_1',
    fence: 7,
    attempt: 1,
    task: 'charge',
    version: '20261121.1',
    createdAt: 1_700_000_000_000,
    payload: '{}',
  });
  expect(JSON.stringify(compact(sent))).toBe(
    '{"run":"run_1","fence":7,"attempt":1,"task":"charge","version":"20261121.1","createdAt":1700000000000,"payload":"{}"}',
  );
});
