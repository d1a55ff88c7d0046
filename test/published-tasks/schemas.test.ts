/** `schemaTask` with the schema libraries that the published SDK supports. */
import { expect, onTestFinished, test } from 'vitest';
import { publishedProject } from './project.ts';
import { serve } from './serve.ts';
import type { Minor } from './versions.ts';

/** Each accepts `{ n }`, a positive integer, with a default. */
const libraries = `
import { schemaTask, task } from '@trigger.dev/sdk';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { type } from 'arktype';
import * as runtypes from 'runtypes';
import * as superstruct from 'superstruct';
import * as v from 'valibot';
import * as yup from 'yup';
import { z } from 'zod';
import { z as z3 } from 'zod3';

const run = async (payload: unknown) => payload;
const box = Type.Object({ n: Type.Integer({ minimum: 1, default: 1 }) });
const positive = superstruct.min(superstruct.integer(), 1);

export const zod4 = schemaTask({ id: 'zod4', schema: z.object({ n: z.int().min(1).default(1) }), run });
export const zod3 = schemaTask({ id: 'zod3', schema: z3.object({ n: z3.number().int().min(1).default(1) }), run });
export const valibot = schemaTask({
  id: 'valibot',
  schema: v.parser(v.object({ n: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1) })),
  run,
});
export const arktype = schemaTask({ id: 'arktype', schema: type({ n: 'number.integer >= 1 = 1' }) as never, run });
export const yupTask = schemaTask({
  id: 'yup',
  schema: yup.object({ n: yup.number().integer().min(1).default(1) }),
  run,
});
export const superstructTask = schemaTask({
  id: 'superstruct',
  schema: superstruct.object({ n: superstruct.defaulted(positive, 1) }),
  run,
});
export const runtype = schemaTask({
  id: 'runtypes',
  schema: runtypes.Object({ n: runtypes.Number.withConstraint((n) => n >= 1) }) as never,
  run,
});
export const typebox = schemaTask({
  id: 'typebox',
  schema: (payload: unknown) => Value.Parse(box, payload),
  run,
});
export const later = schemaTask({
  id: 'later',
  schema: async (payload: unknown) => ({ n: Number((payload as { n: string }).n ?? 1) }),
  run,
});
export const described = task({ id: 'described', jsonSchema: box, run } as never);
export const caller = task({
  id: 'caller',
  run: async (id: string) => {
    const all = { zod4, zod3, valibot, arktype, yup: yupTask, superstruct: superstructTask, runtypes: runtype, typebox };
    const one = all[id as keyof typeof all];
    const refused = await one.trigger({ n: -1 } as never).then(() => 'taken', () => 'refused');
    return [refused, await one.triggerAndWait({ n: 2 } as never).unwrap()];
  },
});
`;

const names = ['zod4', 'zod3', 'valibot', 'arktype', 'yup', 'superstruct', 'runtypes', 'typebox'];
const packages = ['@sinclair/typebox', 'arktype', 'runtypes', 'superstruct', 'valibot', 'yup'];

test.each(['4.0', '4.8'] as const)(
  'schemaTask of %s accepts the schemas of eight libraries',
  { timeout: 120_000 },
  async (minor: Minor) => {
    const project = await publishedProject(minor, { 'trigger/schemas.ts': libraries }, onTestFinished);
    for (const name of packages) await project.link(name);
    await project.link('zod3', 'zod-3');
    const served = await serve(project.dir, 'dev', onTestFinished);
    expect(served.problems).toEqual([]);

    for (const name of names) {
      expect([name, (await served.run(name, { n: 2 })).output]).toEqual([name, { n: 2 }]);
      const refused = await served.run(name, { n: -1 });
      expect([name, refused.status, refused.attemptCount]).toEqual([name, 'FAILED', 1]);
      expect([name, (await served.run('caller', name)).output]).toEqual([name, ['refused', { n: 2 }]]);
    }
    for (const name of names.filter((library) => library !== 'runtypes' && library !== 'typebox'))
      expect([name, (await served.run(name, {})).output]).toEqual([name, { n: 1 }]);
    expect((await served.run('later', { n: '7' })).output).toEqual({ n: 7 });

    // The schema from which the dashboard builds the form for a test run.
    const schemaOf = async (id: string) =>
      (await served.server.ask(`/api/v1/tasks/${id}`, { key: served.key })).body.payloadSchema;
    const whole = { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } };
    expect(await schemaOf('zod4')).toMatchObject(whole);
    expect(await schemaOf('arktype')).toMatchObject(whole);
    expect(await schemaOf('described')).toMatchObject(whole);
    for (const name of names.filter((library) => !['zod4', 'arktype'].includes(library)))
      expect([name, await schemaOf(name)]).toEqual([name, null]);
  },
);
