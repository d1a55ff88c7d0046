/**
 * Runs that continue on another version of their code. Random programs with branches of every kind are executed by the real SDK: first to
 * store steps, then with some of the stored steps. The duration of each part, in event loop turns, is random in each execution.
 */
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { execute } from '../executor/execute.ts';
import { step, task } from '../index.ts';
import { assignmentOf, environment } from '../testing/assignment.ts';
import { startServer, type HttpServer } from '../testing/http-server.ts';
import { numRuns, scale } from '../../../../test/support/long.ts';

type Stored = Record<string, unknown> & { readonly name: string };

let server: HttpServer;
/** The steps that the server has stored. */
let stored: Stored[] = [];
beforeAll(async () => {
  server = await startServer(({ method, path, body }) => {
    if (!path.startsWith('/api/v1/runs/run_1/steps')) return { status: 404 };
    if (method === 'GET') return { body: { data: stored, pagination: {} } };
    const added = body as Stored;
    const isNew = !stored.some(({ name }) => name === added.name);
    if (isNew) stored.push({ isSequential: false, attempt: 1, at: 1, isOtherVersion: false, ...added });
    return { body: { isNew, at: 1 } };
  });
  process.env['MILLRACE_API_URL'] = server.url;
});
afterAll(async () => {
  delete process.env['MILLRACE_API_URL'];
  await server.close();
});
beforeEach(() => {
  stored = [];
});

const joins = {
  all: (acts: readonly (() => Promise<void>)[]) => Promise.all(acts.map((act) => act())),
  allSettled: (acts: readonly (() => Promise<void>)[]) => settled(acts.map((act) => act())),
  parallel: (acts: readonly (() => Promise<void>)[]) => step.parallel(acts),
  two: (acts: readonly (() => Promise<void>)[]) => step.parallel(acts, { limit: 2 }),
  async workers(acts: readonly (() => Promise<void>)[]) {
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < acts.length) await acts[next++]?.();
    };
    await Promise.all([work(), work()]);
  },
  /** Started immediately and awaited in sequence. */
  async later(acts: readonly (() => Promise<void>)[]) {
    const started = acts.map((act) => act());
    for (const promise of started) await promise;
  },
  callbacks: (acts: readonly (() => Promise<void>)[]) =>
    new Promise<void>((resolve, reject) => {
      let left = acts.length;
      const end = (): void => {
        left -= 1;
        if (left === 0) resolve();
      };
      for (const act of acts) act().then(end, reject);
    }),
};
/** Like Promise.allSettled, but rejects with its first failure. */
async function settled(promises: Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(promises))
    if (result.status === 'rejected') throw result.reason;
}
type Join = keyof typeof joins;

type Part =
  | { readonly kind: 'step'; readonly name: string }
  /** An operation that no step records. */
  | { readonly kind: 'io' }
  | { readonly kind: 'fork'; readonly join: Join; readonly branches: readonly (readonly Part[])[] }
  /** A branch that is awaited after the parts that follow it. */
  | { readonly kind: 'early'; readonly branch: readonly Part[] };

type Shape = Exclude<Part, { kind: 'step' }> | { readonly kind: 'step' };
const shapes = fc.letrec<{ part: Shape; parts: Shape[] }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.constant({ kind: 'step' as const }),
    fc.constant({ kind: 'io' as const }),
    fc.record({
      kind: fc.constant('fork' as const),
      join: fc.constantFrom(...(Object.keys(joins) as Join[])),
      branches: fc.array(tie('parts'), { minLength: 2, maxLength: 3 }),
    }) as fc.Arbitrary<Shape>,
    fc.record({ kind: fc.constant('early' as const), branch: tie('parts') }) as fc.Arbitrary<Shape>,
  ),
  parts: fc.array(tie('part'), { minLength: 1, maxLength: 4 }),
}));

/** Gives each step its own name. */
function named(parts: readonly Shape[], count = { steps: 0 }): Part[] {
  return parts.map((part) => {
    switch (part.kind) {
      case 'step':
        return { kind: 'step', name: `s${(count.steps += 1)}` };
      case 'fork':
        return { ...part, branches: part.branches.map((branch) => named(branch as Shape[], count)) };
      case 'early':
        return { ...part, branch: named(part.branch, count) };
      default:
        return part;
    }
  });
}

/** Turns of the event loop that the parts take, in sequence. */
const paces = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 4, maxLength: 12 });

/** Executes a program. Returns its outcome, and the steps whose functions were called. */
async function executed(program: readonly Part[], pace: readonly number[]) {
  const called: string[] = [];
  let at = 0;
  const pause = async (): Promise<void> => {
    for (let turns = pace[at++ % pace.length] ?? 0; turns > 0; turns -= 1)
      await new Promise((resolve) => setImmediate(resolve));
  };
  const act = async (parts: readonly Part[]): Promise<void> => {
    const early: Promise<void>[] = [];
    try {
      for (const part of parts) {
        if (part.kind === 'io') await pause();
        else if (part.kind === 'early') early.push(act(part.branch));
        else if (part.kind === 'fork')
          await joins[part.join](part.branches.map((branch) => () => act(branch)));
        else
          await step.run(part.name, async () => {
            called.push(part.name);
            await pause();
          });
      }
    } finally {
      await settled(early);
    }
  };
  const outcome = await execute({
    task: task({ id: 'charge', run: () => act(program) }),
    assignment: assignmentOf(),
    environment,
    signal: new AbortController().signal,
    onLog() {},
    credential: () => 'credential',
  });
  return { outcome, called };
}

/** Retains the first `count` steps, as steps of another version and of an earlier attempt. */
const keepFirst = (count: number): void => {
  stored = stored.slice(0, count).map((each) => ({ ...each, isOtherVersion: true, attempt: 0 }));
};

test('code whose steps keep their names is never rejected, for any branches and durations', async () => {
  let met = 0;
  await fc.assert(
    fc.asyncProperty(shapes.parts, paces, paces, fc.nat(), async (drawn, first, second, cut) => {
      const program = named(drawn);
      stored = [];
      expect((await executed(program, first)).outcome.kind).toBe('completed');
      const all = stored.length;
      keepFirst(all === 0 ? 0 : cut % all);
      const before = stored.map(({ name }) => name);
      const { outcome, called } = await executed(program, second);
      expect(outcome).toMatchObject({ kind: 'completed' });
      expect(called.filter((name) => before.includes(name))).toEqual([]);
      expect(stored).toHaveLength(all);
      if (before.length > 0 && called.length > 0) met += 1;
    }),
    { numRuns: numRuns(150) },
  );
  expect(met).toBeGreaterThan(20 * scale);
}, 120_000);

/** Excludes branches that are awaited later, because with them a step may be one of several that the code awaits. */
const joined = (parts: readonly Part[]): boolean =>
  parts.every((part) =>
    part.kind === 'fork' ? part.join !== 'later' && part.branches.every(joined) : part.kind !== 'early',
  );

test('a step that the code awaits alone is rejected under another name before its work is done', async () => {
  await fc.assert(
    fc.asyncProperty(shapes.parts, paces, paces, fc.nat(), async (drawn, first, second, which) => {
      const program = named(drawn);
      const own = program.flatMap((part) => (part.kind === 'step' ? [part.name] : []));
      const renamed = own[which % own.length];
      fc.pre(renamed !== undefined && joined(program));
      stored = [];
      await executed(program, first);
      keepFirst(stored.findIndex(({ name }) => name === renamed) + 1);
      const changed = program.map((part) =>
        part.kind === 'step' && part.name === renamed ? { ...part, name: 'renamed' } : part,
      );
      const { outcome, called } = await executed(changed, second);
      expect(outcome).toMatchObject({
        kind: 'failed',
        error: {
          name: 'StepMismatchError',
          message: expect.stringContaining(
            `"renamed", of which no result is stored, before "${renamed}"`,
          ) as string,
        },
      });
      expect(called).not.toContain('renamed');
    }),
    { numRuns: numRuns(80) },
  );
}, 120_000);

const sequential: Stored = {
  name: 'charge',
  kind: 'RUN',
  status: 'COMPLETED',
  seq: 1,
  attempt: 0,
  at: 1,
  isSequential: true,
  isOtherVersion: true,
};
const run = async (act: () => Promise<unknown>) => {
  const outcome = await execute({
    task: task({ id: 'charge', run: act }),
    assignment: assignmentOf(),
    environment,
    signal: new AbortController().signal,
    onLog() {},
    credential: () => 'credential',
  });
  return outcome.kind;
};
const never = new Promise(() => undefined);
const done = async (): Promise<void> => undefined;

test.each<[string, string, () => Promise<unknown>, Partial<Stored>?]>([
  ['is refused', 'failed', () => step.run('charge card', done)],
  ['is refused in functions', 'failed', () => (async () => step.run('charge card', done).then(String))()],
  [
    'is refused where its error is caught',
    'failed',
    () => step.run('charge card', done).finally(() => undefined),
  ],
  ['is executed if it is marked', 'completed', () => step.run('charge card', done, { isNew: true })],
  [
    'is executed after the stored one',
    'completed',
    async () => {
      await step.run('charge', done);
      await step.run('charge card', done);
    },
  ],
  [
    'is executed if the stored one is of another kind',
    'completed',
    () => step.run('a', done),
    { kind: 'EVENT' },
  ],
  [
    'is executed if the stored one failed',
    'completed',
    () => step.run('a', done),
    { status: 'FAILED', error: {} },
  ],
  ['is executed on the same version', 'completed', () => step.run('a', done), { isOtherVersion: false }],
  [
    'is executed if the stored one was in a branch',
    'completed',
    () => step.run('a', done),
    { isSequential: false },
  ],
  ['is executed in a branch', 'completed', () => Promise.all([done(), step.run('a', done)])],
  ['is executed in a branch of allSettled', 'completed', () => settled([step.run('a', done)])],
  ['is executed in a branch of any', 'completed', () => Promise.any([never, step.run('a', done)])],
  [
    'is executed while another one is open',
    'completed',
    () => Promise.race([step.run('a', done), step.run('b', done)]),
  ],
])('an unknown step %s', async (_, kind, act, changes = {}) => {
  stored = [{ ...sequential, ...changes }];
  expect(await run(act)).toBe(kind);
});
