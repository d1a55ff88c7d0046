import { globalHooks, hasGlobalHooks } from './global.ts';
import type { HookArguments, HookName, HookOf, Hooks } from './types.ts';

/** How long, in milliseconds, a hook at the end of an attempt may take, so that the run does not wait forever. */
export const hookLimitMs = 30_000;

/** The hooks of one task's attempt, and their common parameters. */
export interface HookCalls {
  readonly own: Hooks;
  readonly args: HookArguments;
  /** Called with a message about a failed hook. */
  readonly warn: (sentence: string, thrown?: unknown) => void;
}

/** The hooks for all tasks in the order of their registration, then the task's own. */
export const hooksOf = <K extends HookName>({ own }: Pick<HookCalls, 'own'>, name: K): HookOf<K>[] => {
  const hook = own[name];
  return [...globalHooks(name), ...(hook === undefined ? [] : [hook as HookOf<K>])];
};

/** Whether there are any hooks of this kind. Most tasks have none, so their attempts skip this code. */
export const hasHooks = ({ own }: Pick<HookCalls, 'own'>, name: HookName): boolean =>
  own[name] !== undefined || hasGlobalHooks(name);

/** Calls hooks that belong to the attempt, in order. Errors are thrown. */
export async function callAll(calls: HookCalls, name: 'onStart' | 'onStartAttempt'): Promise<void> {
  for (const hook of hooksOf(calls, name)) await hook(calls.args);
}

type Watching = 'onSuccess' | 'onFailure' | 'onComplete' | 'onCancel';

/** Calls hooks that only observe. Errors and timeouts are logged and have no other effect. */
export async function callWatching<K extends Watching>(
  calls: HookCalls,
  name: K,
  more: Omit<Parameters<HookOf<K>>[0], keyof HookArguments>,
  limitMs = hookLimitMs,
): Promise<void> {
  for (const hook of hooksOf(calls, name)) {
    const act = hook as (args: unknown) => unknown;
    try {
      if (!(await within(limitMs, async () => act({ ...calls.args, ...more })))) {
        calls.warn(`${name} took longer than ${limitMs / 1_000} s: the run continues without it.`);
      }
    } catch (thrown) {
      calls.warn(`${name} failed`, thrown);
    }
  }
}

/** False after a timeout; the hook keeps running. */
export async function within(ms: number, act: () => Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([act().then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
