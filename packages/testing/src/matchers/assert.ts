import type { AnyTask, Run } from '@millrace/sdk';
import { currentKit, readRuns } from '../kit/kit.ts';

/** Compares an actual with an expected value. Test runners support placeholders such as `expect.any(String)`. */
export type Equals = (actual: unknown, expected: unknown) => boolean;

export interface Verdict {
  readonly pass: boolean;
  /** The reason, for the failure of the assertion or of its negation. */
  readonly message: () => string;
}

/** Represents an omitted expectation, because `undefined` may be an expected value. */
export const anything: unique symbol = Symbol('anything');

const format = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
};

const list = (values: readonly string[]): string =>
  values.length === 0 ? 'none' : values.map((line) => `\n  ${line}`).join('');

const need = (task: unknown, what: string): AnyTask => {
  if (typeof (task as AnyTask | undefined)?.id === 'string') return task as AnyTask;
  throw new TypeError(`${what} must be a task, as returned by task(…); got ${format(task)}.`);
};

/** A value as the engine returns it: dates are strings. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
  return value;
}

/** Whether a run of `task` has triggered one of `other`, with this payload. */
export function triggered(task: unknown, other: unknown, payload: unknown, equals: Equals): Promise<Verdict> {
  const [from, to] = [need(task, 'the expected trigger'), need(other, 'the triggered task')];
  return currentKit().pending.track(`expect(${from.id}).toHaveTriggered(${to.id})`, async () => {
    const all = await readRuns(to);
    const own = all.filter(({ relatedRuns }) => relatedRuns.parent?.taskIdentifier === from.id);
    const pass = own.some((run) => payload === anything || equals(run.payload, plain(payload)));
    const others = all.length - own.length;
    return {
      pass,
      message: () =>
        `Task "${from.id}" ${pass ? 'has' : 'has not'} triggered "${to.id}"${payload === anything ? '' : ` with ${format(payload)}`}. ` +
        `It triggered: ${list(own.map((run) => `${to.id} with ${format(run.payload)}`))}` +
        (others > 0 ? `\n(${others} more were triggered by other tasks.)` : '') +
        (pass || own.length > 0 ? '' : '\nDid it run? await kit.drain() executes triggered runs.'),
    };
  });
}

const endOf = ({ id, status, output, error }: Run): string =>
  `${id} is ${status}${error ? `: ${error.name ?? 'Error'}: ${error.message}` : output === undefined ? '' : ` with ${format(output)}`}`;

function ended(what: string, task: unknown, fits: (run: Run) => boolean, expected: string): Promise<Verdict> {
  const of = need(task, 'the expected run');
  return currentKit().pending.track(`expect(${of.id}).${what}`, async () => {
    const all: Run[] = await readRuns(of);
    const pass = all.some(fits);
    return {
      pass,
      message: () =>
        `${pass ? 'A' : 'No'} run of task "${of.id}" has ${expected}. Its runs: ${list(all.map(endOf))}`,
    };
  });
}

/** Whether a run of the task has completed, with this output. */
export const completed = (task: unknown, output: unknown, equals: Equals): Promise<Verdict> =>
  ended(
    'toHaveCompleted()',
    task,
    (run) => run.isSuccess && (output === anything || equals(run.output, plain(output))),
    `completed${output === anything ? '' : ` with ${format(output)}`}`,
  );

/** Whether a run of the task has failed, with an error whose message contains this text, or matches. */
export const failed = (task: unknown, error: string | RegExp | undefined): Promise<Verdict> =>
  ended(
    'toHaveFailed()',
    task,
    (run) => {
      const message = run.error?.message ?? '';
      return (
        run.isFailed &&
        (error === undefined || (typeof error === 'string' ? message.includes(error) : error.test(message)))
      );
    },
    `failed${error === undefined ? '' : ` with ${String(error)}`}`,
  );
