import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { testServer } from '../support/server.ts';

const source = fileURLToPath(new URL('../../packages/server/src/', import.meta.url));

const tries = 10;

/**
 * The files of the server in which a function is called while `act` runs, by V8's coverage. Of several calls the one with the fewest: others
 * fill caches, and the first of a kind of run in a second is written with its facets.
 */
async function filesCalledBy(act: () => Promise<unknown>): Promise<string[]> {
  const session = new Session();
  session.connect();
  onTestFinished(() => session.disconnect());
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  let fewest: string[] | undefined;
  for (let n = 0; n < tries; n++) {
    // Taking the coverage resets its counters.
    await session.post('Profiler.takePreciseCoverage');
    await act();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const files = result
      .filter(({ url }) => url.includes(source))
      .filter(({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)))
      .map(({ url }) => relative(source, url.replace(/^file:\/\//, '')))
      .toSorted();
    if (fewest === undefined || files.length < fewest.length) fewest = files;
  }
  return fewest as string[];
}

/** Rooms around the walk: the edge, what every verb uses, and jobs that may run meanwhile. */
const around =
  /^(?:http|auth|db|json|jobs|app|problem\.ts|request\.ts|logger\.ts)(?:\/|$)|^runs\/(?!create\/|handlers\.ts)/;

/** What the walk asks on its way and this process mostly knows: the queue, the version, facets, redaction, and who watches. */
const lookUps = /^(?:queues|versions|envvars|realtime)\/|^runs\/create\/known-facets/;

test('an everyday trigger passes at most six files between its handler and its row, and few look-ups beside them', async () => {
  const server = await testServer();
  await server.ask('/runner/v1/versions', {
    method: 'POST',
    body: { contentHash: 'a'.repeat(64), tasks: [{ id: 'send', filePath: 'send.ts' }] },
  });
  const files = await filesCalledBy(async () => {
    const { status } = await server.ask('/api/v1/tasks/send/trigger', {
      method: 'POST',
      body: { payload: { a: 1 } },
    });
    expect(status).toBe(200);
  });
  expect(files).toContain('runs/handlers.ts');
  const walk = files.filter((file) => !around.test(file) && file !== 'runs/handlers.ts');
  const between = walk.filter((file) => !lookUps.test(file));
  expect(between.length, between.join('\n')).toBeLessThanOrEqual(6);
  expect(walk.length - between.length, walk.join('\n')).toBeLessThanOrEqual(5);
});
