import type { EnvironmentKind } from './environment.ts';

/**
 * The actions of a scope. `write` also covers `trigger`, `batchTrigger`, `update` and `deploy` on the same resource. `deploy` covers the
 * changes that `millrace deploy` makes: deployments, up to promoting a newer version than the current one, and the branch that they belong to.
 */
export type Action = 'read' | 'write' | 'trigger' | 'batchTrigger' | 'deploy' | 'admin';

/** The resources of a scope. */
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
  | 'sources'
  | 'branches'
  | 'waitpoints'
  | 'apiKeys'
  | 'projects';

/** Roles in an organization, lowest first. Each role includes the ones before it. */
export const roles = ['viewer', 'member', 'admin', 'owner'] as const;
export type Role = (typeof roles)[number];

/** Whether `role` is at least `least`. */
export const isAtLeast = (role: Role, least: Role): boolean => roles.indexOf(role) >= roles.indexOf(least);

/**
 * Who may call an operation. A credential kind that is not listed is rejected with 401. `action` and `on` define the scope required of a
 * restricted key or a public token; an operation with neither is closed to them. These rules are authoritative: the server enforces them
 * for each route, and docs/access.md lists them.
 */
export interface Access {
  /** Requires no credential. */
  readonly open?: boolean;
  readonly secretKey?: boolean;
  /** Only secret keys of these environments are accepted; others get 403. */
  readonly keysOf?: readonly EnvironmentKind[];
  readonly personalAccessToken?: boolean;
  readonly publicToken?: boolean;
  /** A public token gets 403 instead of 401, because the caller is known but can never have this permission. */
  readonly forbidsPublicToken?: boolean;
  /** Runs get 403 regardless of their runner's key, because the operation is administrative. */
  readonly forbidsRuns?: boolean;
  readonly action?: Action;
  readonly on?: ResourceType;
  /**
   * The handler authorizes every object (`request.authorize`), so a scope for one of the object's other identities (its task, a tag,
   * its batch) is enough. Responding without authorizing is an internal error.
   */
  readonly objects?: boolean;
  /** Accepts restricted keys and public tokens with any scopes, because it grants nothing beyond them. */
  readonly anyScope?: boolean;
  /** It creates one object and accepts one-time tokens, unlike other write operations. */
  readonly oneTime?: boolean;
  /**
   * The lowest role for personal access tokens, in the organization of the `projectRef` or `organization` in the path. Omit it for operations
   * on the user's own data.
   */
  readonly role?: Role;
  /** It affects the whole installation: only for owners of the first organization. The handler checks it. */
  readonly installation?: boolean;
  /** The lowest role if the path's `env` is dev, which belongs to the user. Default: `role`. */
  readonly devRole?: Role;
  /** It applies to the environment itself: branch headers are ignored, and preview keys need none. */
  readonly wholeEnvironment?: boolean;
  /** Preview keys need no branch: without one it applies to the environment itself. */
  readonly branchIsOptional?: boolean;
  /**
   * The lowest role for a browser session; `own` for any user, for their own data; false for none. Omit it where `browserRole` derives the
   * correct one.
   */
  readonly browser?: Role | 'own' | false;
}

/**
 * The lowest role that may call an operation with a browser session, unless `browser` sets it. Operations for personal access tokens need the
 * same role. Operations that only keys may call in an environment need a viewer to read, a member to change, and an admin where a key needs
 * `admin`. All others are closed.
 *
 * @example
 * browserRole({ secretKey: true, action: 'read', on: 'runs' }); // 'viewer'
 */
export function browserRole(access: Access): Role | 'own' | false {
  const { browser, personalAccessToken, secretKey, role, action, anyScope } = access;
  if (browser !== undefined) return browser;
  if (personalAccessToken) return role ?? 'own';
  if (!secretKey || anyScope) return false;
  if (action === 'read') return 'viewer';
  return action === undefined || action === 'admin' ? 'admin' : 'member';
}

/** Whether an operation acts for a user, rather than in the environment that a browser session names in its headers. */
export const actsForUser = ({ personalAccessToken, secretKey }: Access): boolean =>
  personalAccessToken === true || secretKey !== true;

/** The header without which the cookie of a browser session is ignored. Its value is `1`. */
export const dashboardHeader = 'x-millrace-dashboard';
/** The headers that name the environment in which a browser session acts: a project's ref, and `dev`, `staging`, `prod` or `preview`. */
export const projectHeader = 'x-millrace-project';
export const environmentHeader = 'x-millrace-environment';

/** Presets of keys. `full` allows everything in the environment. */
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

/** Maximum number of tasks that a key can be restricted to. */
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
    'deploy:deployments',
    'read:branches',
    'deploy:branches',
    'read:envvars',
  ],
  'variables-only': ['read:envvars', 'write:envvars'],
};

const taskActions: Readonly<Partial<Record<Preset, readonly Action[]>>> = {
  'trigger-only': ['trigger', 'batchTrigger'],
  'task-operator': ['trigger', 'batchTrigger', 'read', 'write'],
};

/**
 * The scopes of a key created with a preset, for all tasks or only for the given ones. Undefined when the preset cannot be restricted to tasks.
 *
 * @example
 * scopesOfPreset('trigger-only', ['resize']); // ['trigger:tasks:resize', 'batchTrigger:tasks:resize']
 */
export function scopesOfPreset(preset: Preset, tasks: readonly string[] = []): readonly string[] | undefined {
  if (tasks.length === 0) return presetScopes[preset];
  const actions = taskActions[preset];
  return actions && tasks.flatMap((task) => actions.map((action) => `${action}:tasks:${task}`));
}
