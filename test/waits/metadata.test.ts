import { configure, runs, tasks } from '@millrace/sdk';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../packages/server/src/db/connect.ts';
import { followEvents } from '../sessions/session-server.ts';
import { startProject } from '../support/project.ts';
import { testServer } from '../support/server.ts';
import { sharedServer } from '../support/shared-server.ts';

const project = {
  'tasks/work.ts': `import { metadata, task, wait } from '@millrace/sdk';
export const child = task({ id: 'child', run: async () => { await new Promise((done) => setTimeout(done, 2_500)); } });
export const work = task({
  id: 'work',
  run: async () => {
    for (let step = 1; step <= 3; step++) {
      metadata.set('step', step);
      metadata.append('steps', step);
      if (step === 2) await child.triggerAndWait({});
      else await Promise.all([wait.for({ seconds: 2.5 }), wait.for({ seconds: 2.6 })]);
    }
    metadata.set('step', 'end');
  },
});
export const aside = task({
  id: 'aside',
  retry: { maxAttempts: 1 },
  run: async () => {
    metadata.set('step', 'last');
    setTimeout(() => { throw new Error('thrown aside'); }, 0);
    await new Promise((done) => setTimeout(done, 3_000));
  },
});
`,
};

interface RunMetadata {
  readonly status: string;
  readonly isCompleted: boolean;
  readonly metadata?: { readonly step?: unknown; readonly steps?: readonly number[] };
}

describe('earlier metadata changes of a run', { timeout: 120_000 }, () => {
  test('are visible to readers that see it waiting or ended', async () => {
    const server = await testServer();
    configure({ baseURL: server.url, accessToken: server.keys.prod });
    await startProject(server, project);
    const sql = connect(server.database, { name: 'test', max: 1 });
    onTestFinished(() => sql.end());
    const { id } = await tasks.trigger('work', {});
    const reader = await followEvents(`${server.url}/realtime/v1/runs/${id}/events`, {
      authorization: `Bearer ${server.keys.prod}`,
    });
    const events: RunMetadata[] = [];
    let over = false;
    const following = (async () => {
      for (let event = await reader.next(); event && event.event !== 'end'; event = await reader.next()) {
        if (event.event === 'run') events.push(JSON.parse(event.data) as RunMetadata);
      }
      over = true;
    })();
    // A consistent snapshot of both, for each suspension.
    const steps = new Map<number, Set<string | null>>();
    while (!over) {
      const rows = await sql<{ suspension: string; step: string | null }[]>`
        select s.suspension, r.metadata::json->>'step' as step
          from suspended s join runs r on r.env = s.env and r.id = s.run_id where s.run_id = ${id}`;
      for (const { suspension, step } of rows) {
        steps.set(Number(suspension), (steps.get(Number(suspension)) ?? new Set()).add(step));
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await following;
    const bySuspension = [...steps].toSorted(([a], [b]) => a - b).map(([, seen]) => [...seen]);
    expect(bySuspension.length).toBeGreaterThanOrEqual(3);
    for (const seen of bySuspension) expect(seen).toHaveLength(1);
    expect([...new Set(bySuspension.flat())]).toEqual(['1', '2', '3']);

    const waiting = events.filter(({ status }) => status === 'WAITING').map(({ metadata }) => metadata?.step);
    expect([...new Set(waiting)]).toEqual([1, 2, 3]);
    const ended = events.filter(({ isCompleted }) => isCompleted).map(({ metadata }) => metadata);
    expect(ended.at(0)).toEqual({ step: 'end', steps: [1, 2, 3] });
  });

  test('are not lost when it ends with an unhandled error', async () => {
    const server = await sharedServer();
    configure({ baseURL: server.url, accessToken: server.keys.prod });
    await startProject(server, project);
    const { id } = await tasks.trigger('aside', {});
    const ended = await runs.poll(id);
    expect(ended.status).toBe('FAILED');
    expect(ended.metadata).toEqual({ step: 'last' });
  });
});
