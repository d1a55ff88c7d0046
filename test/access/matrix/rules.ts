/** Scopes and presets as the contract defines them (2.3 and 2.4), apart from the code that the matrix tests. */

/** Contract 2.3. */
export const presets: Readonly<Record<string, readonly string[]>> = {
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
  observer: [
    'read:runs',
    'read:tasks',
    'read:batch',
    'read:queues',
    'read:tags',
    'read:errors',
    'read:query',
  ],
  operator: [
    'read:runs',
    'read:tasks',
    'read:batch',
    'read:queues',
    'read:tags',
    'read:errors',
    'read:query',
    'write:runs',
    'write:queues',
    'write:errors',
    'write:tasks',
    'trigger:tasks',
    'batchTrigger:tasks',
  ],
  // Deploying is a subset of writing: our own action, so that a CI key can do nothing else.
  'deploy-only': [
    'read:deployments',
    'deploy:deployments',
    'read:branches',
    'deploy:branches',
    'read:envvars',
  ],
  'variables-only': ['read:envvars', 'write:envvars'],
};

/** Contract 2.3, restricted to one task. */
export const taskPresets: Readonly<Record<string, (task: string) => readonly string[]>> = {
  'trigger-only': (task) => [`trigger:tasks:${task}`, `batchTrigger:tasks:${task}`],
  'task-operator': (task) =>
    ['trigger', 'batchTrigger', 'read', 'write'].map((action) => `${action}:tasks:${task}`),
};

/** Contract 2.4. */
export const actions = ['read', 'write', 'trigger', 'batchTrigger', 'update', 'deploy', 'admin', '*'];
/** Contract 2.4. */
export const types = [
  'runs',
  'tasks',
  'tags',
  'batch',
  'deployments',
  'queues',
  'envvars',
  'branches',
  'sessions',
  'waitpoints',
  'errors',
  'webhooks',
  'all',
];

/** One identity of an object: `runs:run_1`; without an id, all objects of the type. */
type Identity = readonly [type: string, id?: string];

/** Whether scopes allow an action on an object that has these identities. */
export function grants(scopes: readonly string[], action: string, identities: readonly Identity[]): boolean {
  return scopes.some((scope) => {
    if (scope === 'admin') return true;
    const [, granted, type, id] = /^([^:]*)(?::([^:]*))?(?::(.*))?$/s.exec(scope) ?? [];
    if (type === undefined) return false;
    const covers =
      granted === '*' ||
      granted === action ||
      (granted === 'write' && ['trigger', 'batchTrigger', 'update', 'deploy'].includes(action));
    return (
      covers &&
      identities.some(
        ([ofType, ofId]) => (type === 'all' || type === ofType) && (id === undefined || id === ofId),
      )
    );
  });
}

/** The objects of a route. */
export interface Things {
  readonly task: string;
  readonly runId: string;
  readonly tag: string;
  readonly batchId: string;
  readonly session: string;
  readonly externalId: string;
  readonly errorId: string;
  readonly waitpointId: string;
}

/** The tag that the matrix requests where a route needs one. */
export const requestedTag = 'x';

/** Whether scopes meet the requirement of a row of the table, for these objects. */
export function meets(scopes: readonly string[], needs: string, things: Things): boolean {
  const { task, runId, tag, batchId, session, externalId, errorId, waitpointId } = things;
  const [action = '', ...what] = needs.split(' ');
  const granted = (as: string, ...identities: readonly Identity[]) => grants(scopes, as, identities);
  switch (needs) {
    case 'any':
      return true;
    case 'admin':
      return granted('admin', ['nothing']);
    // The scopes that the request of the matrix delegates.
    case 'hand on':
      return granted('read', ['runs'], ['runs', runId]);
    case 'trigger some':
      return scopes.some((scope) => /^(admin$|(trigger|batchTrigger|write|\*):(tasks|all)(:|$))/.test(scope));
    case 'open batch':
      return granted('batchTrigger', ['tasks', task], ['batch']);
    // The contract requires `write` for the batch. A caller with permission to open any batch may also fill them.
    case 'fill batch':
      return granted('batchTrigger', ['tasks', task], ['batch', batchId]);
    // The request of the matrix names a tag.
    case 'read tagged':
      return granted('read', ['runs'], ['tasks'], ['tags', requestedTag]);
    case 'create session':
      return granted('write', ['sessions'], ['tasks', task]);
    case 'write project rules':
      return granted('write', ['errors']);
    // The project's branches belong to preview: keys of other environments do not change them (contract 5.9).
    case 'read branches':
    case 'write branches':
    case 'deploy branches':
      return false;
  }
  switch (`${action === 'read' || action === 'list' ? 'read' : 'do'} ${what.join(' ')}`) {
    case 'do task':
    case 'read task':
      return granted(action, ['tasks', task]);
    case 'read run':
    // A packet is part of a run.
    case 'read packet':
      return granted('read', ['runs', runId], ['tasks', task], ['tags', tag], ['batch', batchId]);
    case 'do run':
      return granted(action, ['runs', runId], ['tasks', task]);
    case 'read batch':
      return granted('read', ['batch', batchId], ['runs']);
    case 'read session':
    case 'do session':
      return granted(action, ['sessions', session], ['sessions', externalId]);
    case 'read error':
    case 'do error':
      return granted(action, ['errors', errorId]);
    case 'read waitpoint':
    case 'do waitpoint':
      return granted(action, ['waitpoints', waitpointId]);
  }
  if (needs === 'list runs') return granted('read', ['runs'], ['tasks']);
  if (needs === 'list batches') return granted('read', ['batch']);
  if (needs === 'list sessions') return granted('read', ['sessions'], ['tasks']);
  return granted(action, [what.join(' ')]);
}
