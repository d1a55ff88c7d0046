import { listProjectRuns } from '@millrace/contract';
import { expect, test } from 'vitest';
import type { Engine } from '../engine/engine.ts';
import { listRuns } from '../list/list.ts';
import { prepareRun } from '../create/prepare.ts';
import type { NewRun } from '../create/row.ts';
import { testEngine, testTrigger } from '../testing/engine.ts';

const again: [how: string, made: Partial<NewRun>, options: Record<string, unknown>][] = [
  ['a repeated request', { requestKey: '00000000-0000-4000-8000-000000000000' }, {}],
  ['a debounced trigger that delayed the run', {}, { debounce: { key: 'k', delay: '10s' } }],
];

for (const [how, properties, options] of again) {
  test(`${how} does not hide a run created right after it from lists`, async () => {
    const t = await testEngine();
    await t.register('send');
    let now = t.engine.clock.now();
    const engine: Engine = { ...t.engine, clock: { ...t.engine.clock, now: () => now } };
    const trigger = testTrigger(engine, t.dispatch);
    const send = async (run: Partial<NewRun> = {}, settings = {}) =>
      trigger({ ...(await prepareRun(engine, t.environment, 'send', { options: settings })), ...run });
    const first = await send(properties, options);
    // Its lane exists.
    await send();
    now += 5_000;
    expect((await send(properties, options)).id).toBe(first.id);
    const last = await send();
    const query = listProjectRuns.query.parse({ 'filter[taskIdentifier]': 'send' });
    const { data } = await listRuns(t.sql, { envs: [t.environment.id], query, now });
    expect(data.map((run) => run.id)).toContain(last.id);
  });
}
