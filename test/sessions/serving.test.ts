import { describe, expect, test } from 'vitest';
import { sessionServer } from './session-server.ts';

describe('a session whose run has ended', () => {
  test('is served by one new run for any number of concurrent appends', async () => {
    const server = await sessionServer();
    const { id, runId } = await server.start({
      externalId: 'a',
      triggerConfig: { basePayload: { message: 'x', keep: 1 } },
    });
    await server.endRun(runId);
    const sent = await Promise.all(Array.from({ length: 20 }, (_, n) => server.append('a', 'in', `${n}`)));
    expect(sent.map(({ body }) => body.seq).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => n),
    );
    const { currentRunId } = (await server.ask('/api/v1/sessions/a')).body;
    expect(currentRunId).not.toBe(runId);
    const runs = (await server.ask('/api/v1/runs')).body.data as { id: string; isCompleted: boolean }[];
    expect(runs.filter(({ isCompleted }) => !isCompleted).map((run) => run.id)).toEqual([currentRunId]);
    expect(runs).toHaveLength(2);
    expect((await server.ask(`/api/v3/runs/${currentRunId}`)).body.payload).toEqual({
      keep: 1,
      sessionId: id,
      continuation: true,
      previousRunId: runId,
    });
  });

  test('starts no run for writes to .out, and only one for a repeated part', async () => {
    const server = await sessionServer();
    const { runId } = await server.start({ externalId: 'a' });
    await server.endRun(runId);
    await server.append('a', 'out', 'x');
    expect((await server.ask('/api/v1/sessions/a')).body.currentRunId).toBe(runId);
    for (let n = 0; n < 3; n++) await server.append('a', 'in', 'x', { 'x-part-id': 'p' });
    expect((await server.ask('/api/v1/runs')).body.data).toHaveLength(2);
  });
});
