import type { ApiClient } from '../client/api-client.ts';
import { currentClient } from '../client/current-client.ts';
import { ConfigurationError, runOf } from '../client/settings.ts';
import { expected, isObject } from './expected.ts';
import { explained } from '../explained.ts';

/** The environment of a call. */
export interface Address {
  readonly projectRef: string;
  readonly env: string;
}

const own = new WeakMap<ApiClient, Promise<Address>>();

/**
 * The client of a call, its environment and the remaining arguments: `(projectRef, env, ...rest)`, or `(...rest)` for the environment of the
 * secret key. `least` is the minimum number of arguments in `rest`.
 */
export async function addressed<R extends readonly unknown[]>(
  args: readonly unknown[],
  least: number,
): Promise<{ client: ApiClient; params: Address; rest: R }> {
  const client = currentClient();
  if (args.length === least) {
    return { client, params: await ownEnvironment(client), rest: args as unknown as R };
  }
  if (args.length < least + 2) {
    throw new TypeError('Pass both the project reference and the environment, or neither.');
  }
  const [projectRef, env, ...rest] = args;
  for (const [name, value] of Object.entries({ projectRef, env })) {
    if (typeof value !== 'string' || value === '') {
      throw new TypeError(
        `${name} must be a string such as ${name === 'env' ? 'prod' : 'proj_…'}; got ${typeof value}`,
      );
    }
  }
  return {
    client,
    params: { projectRef: projectRef as string, env: env as string },
    rest: rest as unknown as R,
  };
}

/** Requested once per client: the environment of a key never changes. */
function ownEnvironment(client: ApiClient): Promise<Address> {
  const { settings } = client;
  if (!runOf(settings) && /^(?:svc|tr)_pat_/.test(settings.accessToken ?? '')) {
    throw new ConfigurationError(
      explained(
        'A personal access token covers many environments: pass the project reference and the environment first, as in envvars.list("proj_…", "prod").',
        'wrong-type-of-credential',
      ),
    );
  }
  let pending = own.get(client);
  if (!pending) {
    pending = client.call('whoami').then((reply) => {
      const { project, environment } = expected(reply, isObject);
      if (project && environment) return { projectRef: project.ref, env: environment.name };
      throw new ConfigurationError('This credential does not belong to an environment: use a secret key.');
    });
    pending.catch(() => own.delete(client));
    own.set(client, pending);
  }
  return pending;
}
