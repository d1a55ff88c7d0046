import type { EnvironmentKind } from './environment.ts';

/** What a scope can allow. `write` also covers `trigger`, `batchTrigger` and `update` on the same resource. */
export type Action = 'read' | 'write' | 'trigger' | 'batchTrigger' | 'admin';

/** What a scope can be about. */
export type ResourceType =
  | 'runs'
  | 'tasks'
  | 'tags'
  | 'batch'
  | 'queues'
  | 'envvars'
  | 'errors'
  | 'sessions'
  | 'schedules'
  | 'events'
  | 'webhooks'
  | 'deployments'
  | 'branches'
  | 'waitpoints'
  | 'apiKeys'
  | 'projects';

/** What a member of an organisation may do there, the least first; each may do what the ones before it may. */
export const roles = ['viewer', 'member', 'admin', 'owner'] as const;
export type Role = (typeof roles)[number];

/** Whether somebody with the role `held` may do what asks for `least`. */
export const isAtLeast = (held: Role, least: Role): boolean => roles.indexOf(held) >= roles.indexOf(least);

/**
 * Who may call an operation. A credential kind that is not named is refused with 401.
 * `action` and `on` say what a restricted key or a public token must hold; an operation with neither is closed to them.
 * These rules, and nothing else, decide: the server enforces them for each route and docs/access.md prints them.
 */
export interface Access {
  /** No credential at all. */
  readonly open?: boolean;
  readonly secretKey?: boolean;
  /** Only secret keys of these environments: it is about more than one of them, or makes no sense in others (403). */
  readonly keysOf?: readonly EnvironmentKind[];
  readonly personalAccessToken?: boolean;
  readonly publicToken?: boolean;
  /** A public token is refused with 403 instead of 401: who holds one is known here, and may never do this. */
  readonly forbidsPublicToken?: boolean;
  /** Code of a run is refused with 403, whatever its runner's key may do: it is administration, not work. */
  readonly forbidsRuns?: boolean;
  readonly action?: Action;
  readonly on?: ResourceType;
  /**
   * The handler asks for every object it touches (`request.authorize`), so a scope pinned to one of the object's other
   * identities (its task, a tag, its batch) is enough. One that answers without having asked is a fault.
   */
  readonly objects?: boolean;
  /** Restricted keys and public tokens may call it whatever they hold: it gives them nothing that they do not hold. */
  readonly anyScope?: boolean;
  /** It creates one thing and uses a one-time token up. One-time tokens write nowhere else. */
  readonly oneTime?: boolean;
  /**
   * The least role, in the organisation of the `projectRef` or `organization` in the path, for personal access tokens.
   * Left out: it concerns what is the user's own, whatever their roles.
   */
  readonly role?: Role;
  /** It concerns everybody's data: only for owners of the organisation that the first start made. The handler asks, where it acts. */
  readonly installation?: boolean;
  /** The same where the path's `env` is dev, which is always the user's own. Left out: `role`. */
  readonly devRole?: Role;
  /** It is about the environment itself: a branch header changes nothing, and keys of preview need none. */
  readonly wholeEnvironment?: boolean;
}

/** What a key may be made for. `full` is everything in its environment. */
export const presets = [
  'full',
  'trigger-only',
  'task-operator',
  'observer',
  'operator',
  'deploy-only',
  'variables-only',
] as const;
export type Preset = (typeof presets)[number];

/** Most tasks that a key can be restricted to. */
export const maxKeyTasks = 10;

const observing = [
  'read:runs',
  'read:tasks',
  'read:batch',
  'read:queues',
  'read:tags',
  'read:errors',
  'read:query',
];

const presetScopes: Readonly<Record<Preset, readonly string[]>> = {
  full: ['admin'],
  'trigger-only': ['trigger:tasks', 'batchTrigger:tasks'],
  'task-operator': [
    'trigger:tasks',
    'batchTrigger:tasks',
    'read:tasks',
    'read:runs',
    'write:runs',
    'read:batch',
    'read:tags',
  ],
  observer: observing,
  operator: [
    ...observing,
    'write:runs',
    'write:queues',
    'write:errors',
    'write:tasks',
    'trigger:tasks',
    'batchTrigger:tasks',
  ],
  'deploy-only': [
    'read:deployments',
    'write:deployments',
    'read:envvars',
    'write:envvars',
    'read:branches',
    'write:branches',
  ],
  'variables-only': ['read:envvars', 'write:envvars'],
};

const taskActions: Readonly<Partial<Record<Preset, readonly Action[]>>> = {
  'trigger-only': ['trigger', 'batchTrigger'],
  'task-operator': ['trigger', 'batchTrigger', 'read', 'write'],
};

/**
 * The scopes of a key made with a preset, for all tasks or for the named ones only. Undefined when the preset cannot be
 * restricted to tasks.
 *
 * @example
 * scopesOfPreset('trigger-only', ['resize']); // ['trigger:tasks:resize', 'batchTrigger:tasks:resize']
 */
export function scopesOfPreset(preset: Preset, tasks: readonly string[] = []): readonly string[] | undefined {
  if (tasks.length === 0) return presetScopes[preset];
  const actions = taskActions[preset];
  return actions && tasks.flatMap((task) => actions.map((action) => `${action}:tasks:${task}`));
}
