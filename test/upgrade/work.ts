/** Work of all kinds for an installation during its upgrade, and the check that each piece was done once. */
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSdk } from './sdk.ts';

/** The tasks. Each action is a line in the file `journal`, which each payload names. */
export const tasks = `
import { appendFileSync } from 'node:fs';
import { schedules, step, task, wait } from '@millrace/sdk';
const write = (file: string, line: string) => appendFileSync(file, line + '\\n');
interface Piece { journal: string; name: string; token?: string }
export const quick = task({ id: 'quick', run: async ({ journal, name }: Piece) => write(journal, name) });
export const flaky = task({
  id: 'flaky',
  retry: { maxAttempts: 4, minTimeoutInMs: 1500, maxTimeoutInMs: 3000, factor: 2, randomize: false },
  run: async ({ journal, name }: Piece, { ctx }) => {
    write(journal, name + ' attempt ' + ctx.attempt.number);
    if (ctx.attempt.number < 3) throw new Error('not yet');
  },
});
export const broken = task({
  id: 'broken',
  retry: { maxAttempts: 1 },
  run: async ({ journal, name }: Piece) => {
    write(journal, name);
    throw new Error('broken for good');
  },
});
export const token = task({
  id: 'token',
  run: async ({ journal, name, token }: Piece) => {
    const result = await wait.forToken<{ answer: string }>(token ?? '');
    if (result.ok) write(journal, name + ' ' + result.output.answer);
  },
});
export const sleeper = task({
  id: 'sleeper',
  run: async ({ journal, name }: Piece) => {
    await wait.for({ seconds: 7 });
    write(journal, name);
  },
});
export const parent = task({
  id: 'parent',
  run: async ({ journal, name }: Piece) => {
    const items = [1, 2, 3].map((n) => ({ payload: { journal, name: name + ' child ' + n } }));
    const { runs } = await quick.batchTriggerAndWait(items);
    write(journal, name + ' ' + runs.filter(({ ok }) => ok).length);
  },
});
export const steps = task({
  id: 'steps',
  retry: { maxAttempts: 3, minTimeoutInMs: 1000, maxTimeoutInMs: 1000 },
  run: async ({ journal, name }: Piece, { ctx }) => {
    await step.run('first', () => write(journal, name + ' first'));
    await step.sleep('pause', { seconds: 6 });
    if (ctx.attempt.number === 1) throw new Error('after the step');
    await step.run('second', () => write(journal, name + ' second'));
  },
});
export const secret = task({
  id: 'secret',
  run: async ({ journal, name }: Piece) => write(journal, name + ' ' + process.env['PASSWORD']),
});
export const tick = schedules.task({
  id: 'tick',
  run: async (payload) => {
    const [name = '', journal = ''] = (payload.externalId ?? '').split('|');
    write(journal, 'tick ' + name + ' ' + payload.timestamp.toISOString());
  },
});
`;

/** The journal lines that one call of the load causes. */
interface Expected {
  readonly lines: readonly string[];
}

export interface Work {
  readonly journal: string;
  /** The ids of all runs that were acknowledged. */
  readonly runs: ReadonlySet<string>;
  /** The errors of calls that failed and were repeated. */
  readonly failures: readonly string[];
  /** Starts calls of all kinds, in several concurrent sequences. */
  begin(): void;
  stop(): Promise<void>;
  /** The number of acknowledged calls. */
  acknowledged(): number;
  /** Completes the tokens that runs wait for. */
  completeTokens(): Promise<void>;
  /** Repeats all triggers with an idempotency key. Returns those whose run differs from the first one. */
  repeat(): Promise<string[]>;
  /** Journal lines that are missing, repeated or unexpected, without those of schedules. */
  differences(): Promise<string[]>;
  /** The journal lines of a schedule. */
  ticks(name: string): Promise<string[]>;
  end(): Promise<void>;
}

/** Work through the SDK of an installed version, as in applications of its users. */
export async function startWork(nodeModules: string, url: string, secretKey: string): Promise<Work> {
  const sdk = await startSdk(nodeModules, url, secretKey);
  const folder = await mkdtemp(join(tmpdir(), 'millrace-journal-'));
  const journal = join(folder, 'journal');
  await appendFile(journal, '');
  const expected: Expected[] = [];
  const runs = new Set<string>();
  const failures: string[] = [];
  const keyed = new Map<string, { task: string; id: string }>();
  const openTokens: string[] = [];
  let isOver = false;
  let count = 0;
  let rows: Promise<unknown> = Promise.resolve();

  const trigger = async (task: string, name: string, options = {}, more = {}): Promise<string> => {
    const triggerOptions = { idempotencyKey: name, ...options };
    const { id } = await sdk.call<{ id: string }>(
      'tasks.trigger',
      task,
      { journal, name, ...more },
      triggerOptions,
    );
    runs.add(id);
    keyed.set(name, { task, id });
    return id;
  };
  const kinds: Readonly<Record<string, (name: string) => Promise<string[]>>> = {
    async quick(name) {
      const [first, second] = await Promise.all([trigger('quick', name), trigger('quick', name)]);
      if (first !== second) throw new Error(`One key has two runs: ${first} and ${second}`);
      return [name];
    },
    async flaky(name) {
      await trigger('flaky', name);
      return [1, 2, 3].map((n) => `${name} attempt ${n}`);
    },
    async broken(name) {
      await trigger('broken', name);
      return [name];
    },
    async delayed(name) {
      await trigger('quick', name, { delay: '5s' });
      return [name];
    },
    async token(name) {
      const { id } = await sdk.call<{ id: string }>('wait.createToken', {
        timeout: '1h',
        idempotencyKey: name,
      });
      await trigger('token', name, {}, { token: id });
      openTokens.push(id);
      return [`${name} of ${id}`];
    },
    async sleeper(name) {
      await trigger('sleeper', name);
      return [name];
    },
    async parent(name) {
      await trigger('parent', name);
      return [...[1, 2, 3].map((n) => `${name} child ${n}`), `${name} 3`];
    },
    async steps(name) {
      await trigger('steps', name);
      return [`${name} first`, `${name} second`];
    },
    async batch(name) {
      const lines = [1, 2, 3, 4].map((n) => `${name} item ${n}`);
      const items = lines.map((line) => ({
        payload: { journal, name: line },
        options: { idempotencyKey: line },
      }));
      await sdk.call('tasks.batchTrigger', 'quick', items);
      return lines;
    },
    async secret(name) {
      await trigger('secret', name);
      return [`${name} open sesame`];
    },
  };
  const names = Object.keys(kinds);

  /** Repeats a call with the same keys until a reply arrives, as an application does that must not lose its call. */
  const acknowledged = async (kind: string, name: string): Promise<readonly string[]> => {
    for (const end = Date.now() + 60_000; ;) {
      try {
        return (await kinds[kind]?.(name)) ?? [];
      } catch (error) {
        failures.push(`${name}: ${String(error)}`);
        if (Date.now() > end) throw error;
        await sleep(200);
      }
    }
  };

  const row = async (): Promise<void> => {
    while (!isOver) {
      count += 1;
      const kind = names[count % names.length] ?? '';
      const name = `${kind} ${count}`;
      expected.push({ lines: await acknowledged(kind, name) });
      await sleep(15);
    }
  };
  const written = async (): Promise<string[]> => (await readFile(journal, 'utf8')).trim().split('\n');

  return {
    journal,
    runs,
    failures,
    begin() {
      isOver = false;
      rows = Promise.all([row(), row(), row()]);
    },
    async stop() {
      isOver = true;
      await rows;
    },
    acknowledged: () => expected.length,
    async completeTokens() {
      for (const id of openTokens.splice(0))
        await sdk.call('wait.completeToken', { id }, { answer: `of ${id}` });
    },
    async repeat() {
      const different: string[] = [];
      for (const [name, { task, id }] of keyed) {
        // A failed run releases its key.
        if (task === 'broken') continue;
        const again = await sdk.call<{ id: string }>(
          'tasks.trigger',
          task,
          { journal, name },
          { idempotencyKey: name },
        );
        if (again.id !== id) different.push(`${name}: ${id}, then ${again.id}`);
      }
      return different;
    },
    async differences() {
      const counts = new Map<string, number>();
      for (const line of await written()) {
        if (line !== '' && !line.startsWith('tick ')) counts.set(line, (counts.get(line) ?? 0) + 1);
      }
      const expectedLines = new Set(expected.flatMap(({ lines }) => lines));
      const missing = [...expectedLines]
        .filter((line) => !counts.has(line))
        .map((line) => `missing: ${line}`);
      const others = [...counts].flatMap(([line, times]) => {
        if (!expectedLines.has(line)) return [`not acknowledged: ${line}`];
        // A call that is repeated after its run has failed creates another run.
        const mayRepeat =
          line.startsWith('broken ') && failures.some((failure) => failure.startsWith(`${line}:`));
        return times === 1 || mayRepeat ? [] : [`${times} times: ${line}`];
      });
      return [...missing, ...others];
    },
    ticks: async (name) => (await written()).filter((line) => line.startsWith(`tick ${name} `)),
    async end() {
      await sdk.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
