import { describe, expect, test } from 'vitest';
import { finished } from '../cli/command.ts';
import { startSystem, type RunMessage, type System } from '../faults/project.ts';
import { eventually } from '../support/eventually.ts';
import { waitingTasks } from './tasks.ts';

const start = () => startSystem({}, waitingTasks);

async function trigger(system: System, task: string, payload: unknown = {}): Promise<string> {
  const call = { method: 'POST', body: { payload } };
  return (await system.call<{ id: string }>(`/api/v1/tasks/${task}/trigger`, call)).id;
}

const retrieve = (system: System, id: string) => system.call<RunMessage>(`/api/v3/runs/${id}`);
const becomes = (system: System, id: string, status: string) =>
  eventually(
    () => retrieve(system, id),
    (run) => run.status === status,
    30_000,
  );
const completed = async (system: System, id: string) => (await becomes(system, id, 'COMPLETED')).output;

describe('waits in the code of a task', { timeout: 120_000 }, () => {
  test('triggerAndWait, concurrent waits, failures and tokens work, and are shown while they last', async () => {
    const system = await start();
    await system.work();

    expect(await completed(system, await trigger(system, 'parent', { n: 4 }))).toEqual([8, true]);
    // Each of them in a queue with a limit of one.
    expect(await completed(system, await trigger(system, 'single', { depth: 4 }))).toBe(4);
    expect(await completed(system, await trigger(system, 'several', { count: 5 }))).toEqual([
      'time',
      0,
      2,
      4,
      6,
      8,
      'short',
    ]);
    const batches = await trigger(system, 'batches', { count: 5 });
    expect(await completed(system, batches)).toEqual([['SubtaskError', 0, 2, 4, 6], 42, 0, 14]);
    expect(await completed(system, await trigger(system, 'failing'))).toEqual({
      ok: false,
      message: expect.stringContaining('negative'),
      thrown: 'SubtaskError',
      cause: 'RangeError',
    });

    const approval = await trigger(system, 'approval');
    await becomes(system, approval, 'WAITING');
    const { data } = await system.call<{ data: { id: string; url: string }[] }>(
      '/api/v1/waitpoints/tokens?filter[tags]=mine',
    );
    const reason = await system.call<object>(`/api/v1/runs/${approval}/reason`);
    expect(reason).toMatchObject({ status: 'WAITING', reason: 'waiting_on_token', waitsFor: data[0]!.id });
    const env = { MILLRACE_API_URL: system.url, MILLRACE_SECRET_KEY: system.key, CI: 'true' };
    const why = await finished(['why', approval], { cwd: system.folder, env });
    expect(why.stdout).toContain(`is waiting for the token ${data[0]!.id} to be completed`);
    const listed = await system.call<{ data: { id: string }[] }>('/api/v1/runs?filter[status]=WAITING');
    expect(listed.data.map((run) => run.id)).toEqual([approval]);
    const callback = await fetch(data[0]!.url, {
      method: 'POST',
      body: '{"by":"a webhook"}',
      headers: { 'content-type': 'application/json' },
    });
    expect(await callback.json()).toEqual({ success: true });
    expect(await completed(system, approval)).toEqual({ by: 'a webhook' });

    const late = await trigger(system, 'approval', { timeout: '1s' });
    expect(await completed(system, late)).toBe('WaitTimeoutError');

    const endless = await trigger(system, 'endless');
    await becomes(system, endless, 'WAITING');
    await system.call(`/api/v2/runs/${endless}/cancel`, { method: 'POST' });
    await becomes(system, endless, 'CANCELED');
    const { lines } = await system.call<{ lines: { message: string }[] }>(`/api/v1/runs/${endless}/logs`);
    expect(lines.map((line) => line.message)).toEqual(['stopped true']);

    const limited = await retrieve(system, await trigger(system, 'limited'));
    const done = await becomes(system, limited.id, 'COMPLETED');
    expect((done as unknown as { durationMs: number }).durationMs).toBeLessThan(5_000);
  });

  test('a hundred parents do not block their children on a runner with ten slots', async () => {
    const system = await start();
    await system.work({ concurrency: 10 });
    const children = (action: 'pause' | 'resume') =>
      system.call('/api/v1/queues/child/pause', { method: 'POST', body: { type: 'task', action } });
    await children('pause');
    const ids = await Promise.all(Array.from({ length: 100 }, (_, n) => trigger(system, 'parent', { n })));
    await eventually(
      () => system.call<{ data: unknown[] }>('/api/v1/runs?filter[status]=WAITING&page[size]=100'),
      ({ data }) => data.length === 100,
      60_000,
    );
    await children('resume');
    for (const [n, id] of ids.entries()) expect(await completed(system, id)).toEqual([n * 2, true]);
  });
});
