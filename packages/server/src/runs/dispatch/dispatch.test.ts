import { expect, onTestFinished, test } from 'vitest';
import { Timer } from '../../jobs/timer.ts';
import { ConnectedRunner, ConnectedRunners } from '../../runners/runners.ts';
import { createDispatch } from './dispatch.ts';
import { testEngine } from '../testing/engine.ts';

test('a reserved slot is free again when its assignment cannot be created', async () => {
  const fixture = await testEngine();
  const { engine, sql, environment } = fixture;
  const { id } = await fixture.register('send');
  await fixture.addRunner('r1');
  const runner = new ConnectedRunner('r1', environment.id, 3, new Set([id]), () => {});
  const runners = new ConnectedRunners();
  runners.add(runner);
  const dispatch = createDispatch({ engine, engineSql: sql, runners, timer: new Timer() });
  onTestFinished(() => dispatch.stop());
  const offered = async () => {
    for (;;) {
      const offer = dispatch.offer(environment.id, 0);
      if (offer) return offer;
      dispatch.wake(environment.id);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const offer = await offered();
  expect(runner.free).toBe(2);
  // A run pinned to the current version is handed over too; one pinned to another version waits in its lane.
  const pinned = dispatch.offer(environment.id, id);
  expect(pinned?.version).toBe(id);
  pinned?.decline();
  expect(dispatch.offer(environment.id, id + 1)).toBeUndefined();
  // The name of a version or a queue could not be read.
  offer.accept(Promise.reject(new Error('PostgreSQL is away')));
  await expect.poll(() => runner.free, { timeout: 20_000 }).toBe(3);
});
