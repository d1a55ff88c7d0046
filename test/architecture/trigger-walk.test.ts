import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { testServer } from '../support/server.ts';

const source = fileURLToPath(new URL('../../packages/server/src/', import.meta.url));

/** The files of the server in which a function is called while `act` runs, by V8's coverage. */
async function filesCalledBy(act: () => Promise<unknown>): Promise<string[]> {
  const session = new Session();
  session.connect();
  onTestFinished(() => session.disconnect());
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  // The first call fills caches, and taking the coverage resets its counters.
  await act();
  await session.post('Profiler.takePreciseCoverage');
  await act();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.includes(source))
    .filter(({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)))
    .map(({ url }) => relative(source, url.replace(/^file:\/\//, '')))
    .toSorted();
}

/** Rooms around the walk: the edge, what every verb uses, and jobs that may run meanwhile. */
const around =
  /^(?:http|auth|db|json|jobs|app|problem\.ts|request\.ts|logger\.ts)(?:\/|$)|^runs\/(?!create\/|handlers\.ts)/;

test('an everyday trigger passes at most six files between its handler and its row, and few look-ups beside them', async () => {
  const server = await testServer();
  const files = await filesCalledBy(async () => {
    const { status } = await server.ask('/api/v1/tasks/send/trigger', {
      method: 'POST',
      body: { payload: { a: 1 } },
    });
    expect(status).toBe(200);
  });
  expect(files).toContain('runs/handlers.ts');
  const walk = files.filter((file) => !around.test(file) && file !== 'runs/handlers.ts');
  const creating = walk.filter((file) => file.startsWith('runs/'));
  expect(creating.length, creating.join('\n')).toBeLessThanOrEqual(6);
  // The queue's name, the current version, redaction, and the announcement to subscribers.
  expect(walk.length - creating.length, walk.join('\n')).toBeLessThanOrEqual(5);
});
