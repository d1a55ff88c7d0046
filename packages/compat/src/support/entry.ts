/**
 * Where the published SDK has a name: an export (`export`, `agents` for those of `@trigger.dev/sdk/ai`), another entry point or package
 * (`module`), or an option of
 * - `task`: `task`, `schemaTask`, `toolTask` and `schedules.task`, with `run` and its hooks
 * - `hook`: the arguments of hooks, `catchError`: their result
 * - `trigger`: one trigger, `batch`: a whole batch
 * - `queue`, `limit` (`concurrencyLimit`), `webhook`, `endpoint` (`webhooks.endpoint.define`)
 * - `config`: `trigger.config.ts`
 */
export type Kind =
  | 'export'
  | 'agents'
  | 'module'
  | 'task'
  | 'hook'
  | 'catchError'
  | 'trigger'
  | 'batch'
  | 'queue'
  | 'limit'
  | 'webhook'
  | 'endpoint'
  | 'config';

/** `none`: it is accepted and has no effect. `not`: a project that uses it is rejected. */
export type State = 'works' | 'differs' | 'none' | 'not';

/** How Millrace supports one name of the published SDK. */
export interface Entry {
  readonly kind: Kind;
  /** A member follows a dot. */
  readonly name: string;
  readonly state: State;
  /** How it differs, why it has no effect, or what to use instead. */
  readonly note?: string;
}

/** The functions that declare the rows of one kind. */
export const entriesOf = (kind: Kind) => ({
  works: (...names: string[]): Entry[] => names.map((name) => ({ kind, name, state: 'works' })),
  /** Members of an export or option that works itself. */
  members: (root: string, ...names: string[]): Entry[] =>
    names.map((name) => ({ kind, name: `${root}.${name}`, state: 'works' })),
  differs: (name: string, note: string): Entry => ({ kind, name, state: 'differs', note }),
  none: (note: string, ...names: string[]): Entry[] =>
    names.map((name) => ({ kind, name, state: 'none', note })),
  not: (note: string, ...names: string[]): Entry[] =>
    names.map((name) => ({ kind, name, state: 'not', note })),
});
