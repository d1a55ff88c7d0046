import { describe, expect, test } from 'vitest';
import { ConnectedRunner } from '../../runners/runners.ts';
import { cancelRun, markCanceled } from '../cancel/cancel.ts';
import { prepareRun, type TriggerRequest } from './prepare.ts';
import { rescueRunner } from '../dispatch/rescue.ts';
import { retrieveRun } from '../retrieve/retrieve.ts';
import { addTags } from '../change/tags.ts';
import { testEngine, type TestEngine } from '../testing/engine.ts';
import { insertRuns } from './insert.ts';
import { createBeginWaits } from '../waits/begin.ts';

/** A run of `send` that a runner executes. */
async function startParent() {
  const t = await testEngine();
  const version = await t.register('send');
  await t.addRunner('r1');
  await t.trigger('send');
  const [attempt] = await t.claim('r1', [version.id], 1);
  if (!attempt) throw new Error('the parent was not claimed');
  return { t, version, attempt, ofParent: { parentRunId: attempt.run, parentFence: attempt.fence } };
}

/** The runner is lost, and another one gets its run. */
async function takeOver(t: TestEngine, version: number) {
  const { engine, dispatch, complete } = t;
  await rescueRunner({ engine, dispatch, complete }, 'r1', 'connection of r1');
  await t.addRunner('r2');
  const [attempt] = await t.claim('r2', [version], 1);
  if (!attempt) throw new Error('no attempt has the run');
  return attempt;
}

const prepared = (t: TestEngine, options: TriggerRequest['options']) =>
  prepareRun(t.engine, t.environment, 'send', { options });

/** Resolves once a statement with this text waits for a lock. */
async function untilWaiting(t: TestEngine, text: string): Promise<void> {
  await expect
    .poll(
      async () => {
        const [row] = await t.sql`
          select from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query like ${`%${text}%`}`;
        return row !== undefined;
      },
      { timeout: 20_000 },
    )
    .toBe(true);
}

const canceled = { kind: 'canceled' } as const;

describe('a run triggered by an attempt', () => {
  test('is placed in the tree, whether the attempt executes or waits', async () => {
    const { t, attempt, ofParent } = await startParent();
    const child = await t.trigger('send', ofParent);
    const begin = createBeginWaits(t.engine, t.sql, t.dispatch, () => {});
    const wait = { key: 'time/1', kind: 'TIME', inMs: 60_000 } as const;
    await begin({ env: t.environment.id, run: attempt.run, fence: attempt.fence, waits: [wait] });
    const [other, grandchild] = await Promise.all([
      t.trigger('send', ofParent),
      t.trigger('send', { parentRunId: child.id }),
    ]);
    const related = async (id: string) => {
      const run = await retrieveRun(t.engine, t.environment.id, id);
      return [run?.relatedRuns.root?.id, run?.relatedRuns.parent?.id, run?.depth];
    };
    expect(await related(child.id)).toEqual([attempt.run, attempt.run, 1]);
    expect(await related(other.id)).toEqual([attempt.run, attempt.run, 1]);
    expect(await related(grandchild.id)).toEqual([attempt.run, child.id, 2]);
  });

  test('is listed under its parent in trigger order, to the millisecond', async () => {
    const { t, attempt, ofParent } = await startParent();
    const ids: string[] = [];
    for (let n = 0; n < 12; n++) ids.push((await t.trigger('send', ofParent)).id);
    // Ended leases have moved elsewhere in the table by now.
    await t.sql`update runs set tags = '{moved}' where id = any(${ids.slice(0, 5)}::text[])`;
    const parent = await retrieveRun(t.engine, t.environment.id, attempt.run);
    expect(parent?.relatedRuns.children?.map(({ id }) => id)).toEqual(ids.toSorted());
  });

  test('is rejected once another attempt owns the run, without affecting the rest of the flush', async () => {
    const { t, version, ofParent } = await startParent();
    const taken = await takeOver(t, version.id);
    const now = { parentRunId: taken.run, parentFence: taken.fence };
    const answers = async (...calls: TriggerRequest['options'][]) => {
      const settled = await Promise.allSettled(calls.map((options) => t.trigger('send', options)));
      return settled.map((result) =>
        result.status === 'fulfilled' ? result.value.isCached : (result.reason as { status: number }).status,
      );
    };
    const unknown = { parentRunId: 'run_unknown' };
    expect(await answers(ofParent, now, {}, unknown)).toEqual([409, false, false, 422]);
    // Two resolve to the same run, and one of them may.
    const key = { idempotencyKey: 'one' };
    expect(await answers({ ...ofParent, ...key }, { ...now, ...key })).toEqual([409, false]);
    const debounce = { debounce: { key: 'd', delay: '1h' } };
    expect(await answers({ ...ofParent, ...debounce }, { ...now, ...debounce })).toEqual([409, false]);
    const [rows] = await t.sql`
      select (select count(*)::int from runs) as runs, (select count(*)::int from idempotency_keys) as keys,
             (select count(*)::int from debounces) as debounces`;
    expect(rows).toEqual({ runs: 5, keys: 1, debounces: 1 });
  });

  test('is rejected once the attempt has ended, except for a request that has already created its run', async () => {
    const { t, attempt, ofParent } = await startParent();
    const trigger = async (options: TriggerRequest['options'], requestKey: string) => {
      const rows = await insertRuns(t.engine, [{ ...(await prepared(t, options)), requestKey }]);
      return rows[0];
    };
    const requestKey = '00000000-0000-4000-8000-000000000000';
    const created = await trigger(ofParent, requestKey);
    expect(created).toMatchObject({ refused: null, cached: false, root_id: attempt.run });
    await t.end(attempt);
    expect(await trigger(ofParent, requestKey)).toMatchObject({ run_id: created?.run_id, refused: null });
    await expect(t.trigger('send', ofParent)).rejects.toMatchObject({ status: 409 });
    expect(await t.trigger('send', { parentRunId: attempt.run })).toMatchObject({ isCached: false });
  });

  test('exists before the lease can end', async () => {
    const { t, attempt, ofParent } = await startParent();
    const run = await prepared(t, ofParent);
    await cancelRun(t.engine, t.runners, t.environment.id, attempt.run);
    let ended: Promise<unknown> | undefined;
    await t.sql.begin(async (tx) => {
      await insertRuns({ sql: tx, clock: t.engine.clock }, [run]);
      ended = t.end(attempt, canceled);
      await untilWaiting(t, 'complete_attempts');
    });
    await ended;
    expect(await t.statusOf(run.id)).toBe('CANCELED');
  });
});

describe('the tags of an attempt', () => {
  test('are rejected once another attempt owns the run', async () => {
    const { t, version, attempt } = await startParent();
    const add = (tag: string, fence?: number) =>
      addTags(t.engine, t.environment.id, attempt.run, [tag], fence);
    expect(await add('a', attempt.fence)).toBe(1);
    const taken = await takeOver(t, version.id);
    await expect(add('b', attempt.fence)).rejects.toMatchObject({ status: 409 });
    expect(await add('c', taken.fence)).toBe(1);
    expect(await add('d')).toBe(1);
    expect((await retrieveRun(t.engine, t.environment.id, attempt.run))?.tags).toEqual(['a', 'c', 'd']);
  });
});

describe('cancelling a run', () => {
  test('reaches a child that is being written during the cancellation', async () => {
    const t = await testEngine();
    await t.register('send');
    const root = await t.trigger('send');
    const child = await prepared(t, { parentRunId: root.id });
    let cancelled: Promise<unknown> | undefined;
    await t.sql.begin(async (tx) => {
      await insertRuns({ sql: tx, clock: t.engine.clock }, [child]);
      cancelled = cancelRun(t.engine, t.runners, t.environment.id, root.id);
      await untilWaiting(t, 'cancel_runs');
    });
    await cancelled;
    for (const id of [root.id, child.id]) expect(await t.statusOf(id)).toBe('CANCELED');
    expect(await t.sql`select from queued`).toHaveLength(0);
  });

  test('rejects a child that arrives while it is being written', async () => {
    const t = await testEngine();
    await t.register('send');
    const root = await t.trigger('send');
    let child: Promise<unknown> | undefined;
    await t.sql.begin(async (tx) => {
      await markCanceled(tx, t.environment.id, root.id, new Date(t.engine.clock.now()));
      child = t.trigger('send', { parentRunId: root.id }).catch((error: unknown) => error);
      await untilWaiting(t, 'create_runs');
    });
    expect(await child).toMatchObject({ status: 422, message: expect.stringContaining('canceled') });
  });

  test('reaches runs that its code triggered before it was notified, in the commit that ends it, and notifies their runners', async () => {
    const { t, version, attempt, ofParent } = await startParent();
    const { engine, runners, environment, complete } = t;
    await cancelRun(engine, runners, environment.id, attempt.run);
    const running = await t.trigger('send', ofParent);
    await t.addRunner('r2');
    const [live] = await t.claim('r2', [version.id], 1);
    expect(live?.run).toBe(running.id);
    const waiting = await t.trigger('send', ofParent);
    const received: unknown[] = [];
    runners.add(
      new ConnectedRunner('r2', environment.id, 1, new Set(), (message) => void received.push(message)),
    );
    const other = { env: environment.id, task: 'send', run: 'run_other', fence: 1, outcome: canceled };
    const [completion] = await Promise.all([
      complete({ env: environment.id, task: 'send', ...attempt, outcome: canceled }),
      complete(other),
    ]);
    expect(completion).toMatchObject({ stale: false, kind: 'CANCELED' });
    expect(await t.statusOf(waiting.id)).toBe('CANCELED');
    expect(await t.sql`select from leases where run_id = ${running.id} and cancel_requested`).toHaveLength(1);
    expect(received).toEqual([{ type: 'cancel', fences: [live?.fence] }]);
    await t.end(live!);
    expect(await t.statusOf(running.id)).toBe('CANCELED');
  });
});
