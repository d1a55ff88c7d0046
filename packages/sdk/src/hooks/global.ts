import type { HookName, HookOf } from './types.ts';

type Registered = { [K in HookName]?: Map<string, HookOf<K>> };

// Global, so that two copies of this package in one process share them.
const slot = Symbol.for('@millrace/sdk/hooks');
const holder = globalThis as { [slot]?: Registered };

/** The hooks for all tasks, in the order in which they were registered. */
export const globalHooks = <K extends HookName>(name: K): readonly HookOf<K>[] => [
  ...(holder[slot]?.[name]?.values() ?? []),
];

/** Whether there are any hooks of this kind. */
export const hasGlobalHooks = (name: HookName): boolean => (holder[slot]?.[name]?.size ?? 0) > 0;

/** All functions that are registered as hooks for all tasks. */
export const registeredHooks = (): readonly unknown[] =>
  Object.values(holder[slot] ?? {}).flatMap((hooks) => [...hooks.values()]);

/** Functions that register a hook for all tasks of the project. A hook with an existing name replaces the earlier one. */
export type Register<K extends HookName> = {
  (hook: HookOf<K>): void;
  (name: string, hook: HookOf<K>): void;
};

let unnamed = 0;

export const registering =
  <K extends HookName>(which: K): Register<K> =>
  (first: string | HookOf<K>, second?: HookOf<K>): void => {
    const hook: unknown = typeof first === 'string' ? second : first;
    if (typeof hook !== 'function') {
      throw new TypeError(`tasks.${which} takes a function, or a name and a function.`);
    }
    const hooks = ((holder[slot] ??= {})[which] ??= new Map() as never) as Map<string, HookOf<K>>;
    hooks.set(typeof first === 'string' ? `named ${first}` : `${(unnamed += 1)}`, hook as HookOf<K>);
  };
