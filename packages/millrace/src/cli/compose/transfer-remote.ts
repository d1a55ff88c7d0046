import { EnvironmentClient } from '../../api/environment-client.ts';
import { kinds } from '../../transfer/file.ts';
import type { Remote } from '../../transfer/part.ts';
import { lackingRights } from '../../transfer/rights.ts';
import { findServer, type ConnectionOptions } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { waitsForServer } from '../waiting.ts';

export interface TransferOptions extends ConnectionOptions {
  readonly only?: string;
  readonly json?: boolean;
}

export interface OpenRemote extends Remote {
  readonly scopes: readonly string[];
  readonly branch: string | undefined;
}

/** The environment of the key. */
export async function openRemote(options: TransferOptions): Promise<OpenRemote> {
  const { url, key } = await findServer(options);
  waitsForServer(url);
  const client = new EnvironmentClient({ url, key, branch: options.branch });
  const { kind, scopes = [], project, environment } = await client.call('whoami');
  if (kind !== 'secretKey' || !project || !environment)
    throw new CommandFailed(
      exitCodes.usage,
      'Export and import require the secret key of the environment. Set MILLRACE_SECRET_KEY or pass --key.',
    );
  return {
    client,
    project: project.ref,
    environment: environment.name,
    params: { projectRef: project.ref, env: environment.name },
    scopes,
    branch: environment.branch,
  };
}

/** The kinds selected with --only; without it, all of them. */
export function kindsOf(only: string | undefined): Set<string> {
  if (only === undefined) return new Set(kinds);
  const requested = only.split(',').map((kind) => kind.trim());
  const unknown = requested.find((kind) => !kinds.includes(kind));
  if (unknown === undefined) return new Set(requested);
  throw new CommandFailed(exitCodes.usage, `--only: unknown kind ${unknown}; use ${kinds.join(', ')}.`);
}

/** Rejects a key that lacks permissions before anything is done. */
export function requireRights(
  { scopes }: OpenRemote,
  of: ReadonlySet<string>,
  act: 'export' | 'import',
): void {
  const lacking = lackingRights(scopes, of, act);
  if (lacking.length === 0) return;
  throw new CommandFailed(
    exitCodes.cannotReach,
    `The key has no permission to ${act} these kinds: ${lacking.join(', ')}. Use an unrestricted key, or --only with kinds that it may ${act}.`,
  );
}
