import { runStatuses } from '@millrace/contract';
import type { SerializedError } from '@millrace/contract/runner';
import { TaskRunError } from '@trigger.dev/core/v3';
import { expect, test } from 'vitest';
import { resultError } from '../../packages/server/src/runs/retrieve/result-error.ts';

const error = (type: SerializedError['type'], name: string): SerializedError => ({
  type,
  name,
  message: 'it broke',
  stackTrace: '',
});

test.each([
  [error('BUILT_IN_ERROR', 'TypeError'), { name: 'TypeError', message: 'it broke' }],
  [error('STRING_ERROR', 'string'), { raw: 'it broke' }],
  [error('CUSTOM_ERROR', 'Error'), { raw: 'it broke' }],
  [error('INTERNAL_ERROR', 'OutOfMemory'), { code: 'TASK_PROCESS_OOM_KILLED', message: 'it broke' }],
  [{ ...error('INTERNAL_ERROR', 'RunnerLost'), code: 'RUNNER_LOST' }, { code: 'TASK_RUN_STALLED_EXECUTING' }],
  [error('INTERNAL_ERROR', 'constructor'), { code: 'TASK_EXECUTION_FAILED' }],
])('the published client reads %o', (stored, expected) => {
  expect(TaskRunError.parse(resultError(stored, 'FAILED'))).toMatchObject(expected);
});

test('a run that never threw gets a code that the published client knows, for every status', () => {
  const codes = runStatuses.map((status) => TaskRunError.parse(resultError(null, status)));
  expect(codes).toContainEqual(
    expect.objectContaining({ code: 'TASK_RUN_CANCELLED', message: 'The run is CANCELED.' }),
  );
  expect(codes).toContainEqual(
    expect.objectContaining({ code: 'UNSPECIFIED_ERROR', message: 'The run is EXPIRED.' }),
  );
});

test('causes are a chain for the published client, and a tree for ours', () => {
  const root = { ...error('BUILT_IN_ERROR', 'TypeError'), message: 'root' };
  const cause = { ...error('BUILT_IN_ERROR', 'RangeError'), message: 'cause', causes: [root] };
  const member = { ...error('STRING_ERROR', 'string'), message: 'member', isMember: true } as const;
  const stored = { ...error('BUILT_IN_ERROR', 'AggregateError'), causes: [cause, member] };
  const actual = resultError(stored, 'FAILED');
  expect(TaskRunError.parse(actual)).toMatchObject({
    causes: [{ message: 'cause' }, { message: 'root' }, { message: 'member' }],
  });
  expect(actual['causes']).toEqual([cause, root, member]);
  const odd = { ...stored, causes: 'none' as unknown as SerializedError[] };
  expect(TaskRunError.parse(resultError(odd, 'FAILED'))).not.toHaveProperty('causes');
});
