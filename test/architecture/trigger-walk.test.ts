import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { testServer } from '../support/server.ts';
import { promote } from '../support/promote.ts';

const source = fileURLToPath(new URL('../../packages/server/src/', import.meta.url));

/** On a busy machine, many calls coincide with background jobs. */
const maxTries = 100;

/**
 * The files of the server in which a function is called each time that `act` runs, by V8's coverage. Some calls also fill caches, meet a
 * background job, or are the first of their kind in a second and also write its facets. So it is called until the files are few enough.
 */
async function filesCalledBy(
  act: () => Promise<unknown>,
  isEnough: (files: readonly string[]) => boolean,
): Promise<string[]> {
  const session = new Session();
  session.connect();
  onTestFinished(() => session.disconnect());
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  let always: string[] | undefined;
  for (let n = 0; n < maxTries && !(always && isEnough(always)); n++) {
    // Taking the coverage resets its counters.
    await session.post('Profiler.takePreciseCoverage');
    await act();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const files = result
      .filter(({ url }) => url.includes(source))
      .filter(({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)))
      .map(({ url }) => relative(source, url.replace(/^file:\/\//, '')))
      .toSorted();
    always = always?.filter((file) => files.includes(file)) ?? files;
  }
  return always as string[];
}

/** The steps of every request before its handler, and of its reply. */
const isEdge = (file: string): boolean => /^(?:http|auth|audit|json)\//.test(file);

/** The current length of the walk, in files. A change that shortens it lowers these numbers. */
const max = { fromSocket: 67, beyondEdge: 32, inCreate: 6 };

const beyondEdgeIn = (files: readonly string[]): string[] => files.filter((file) => !isEdge(file));

/** The walk also visits other rooms: the queue's id, the version, the watchers, the known facets. */
const walkIn = (files: readonly string[]): string[] =>
  files.filter((file) => file.startsWith('runs/create/'));

const isShort = (files: readonly string[]): boolean =>
  files.length <= max.fromSocket &&
  beyondEdgeIn(files).length <= max.beyondEdge &&
  walkIn(files).length <= max.inCreate;

test('an everyday trigger passes through no more files than now, from the socket to the row', async () => {
  const server = await testServer();
  await server.ask('/runner/v1/versions', {
    method: 'POST',
    body: { contentHash: 'a'.repeat(64), tasks: [{ id: 'send', filePath: 'send.ts' }] },
  });
  await promote(server.url, server.keys.prod);
  const files = await filesCalledBy(async () => {
    const { status } = await server.ask('/api/v1/tasks/send/trigger', {
      method: 'POST',
      body: { payload: { a: 1 } },
    });
    expect(status).toBe(200);
  }, isShort);
  expect(files).toContain('runs/create/handlers.ts');
  const walk = walkIn(files);
  const beyondEdge = beyondEdgeIn(files);
  console.log(`${files.length} files from the socket to the row, ${beyondEdge.length} beyond the edge`);
  expect(walk.length, walk.join('\n')).toBeLessThanOrEqual(max.inCreate);
  expect(beyondEdge.length, beyondEdge.join('\n')).toBeLessThanOrEqual(max.beyondEdge);
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(max.fromSocket);
});
