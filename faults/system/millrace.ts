/** The servers and runners, as their users start them. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../network/namespaces.ts';
import { addressOf, type Runner, type Server } from '../network/nodes.ts';
import { until } from '../time.ts';
import { databaseVariables, type Route } from './database.ts';
import { millrace, projectFolder } from './folders.ts';
import { apiUrl, network } from './haproxy.ts';
import { start, type Started } from './process.ts';

export interface Secrets {
  readonly masterKey: string;
  readonly secretKey: string;
}

export const newSecrets = (): Secrets => ({
  masterKey: randomBytes(32).toString('hex'),
  secretKey: `svc_prod_sk_${randomBytes(12).toString('hex')}`,
});

/** The variables of a program that calls the API. */
export const clientVariables = ({ secretKey }: Secrets): Record<string, string> => ({
  MILLRACE_API_URL: apiUrl,
  MILLRACE_SECRET_KEY: secretKey,
});

interface Context {
  readonly folder: string;
  readonly secrets: Secrets;
}

type Variables = Readonly<Record<string, string>>;

export async function startServer(
  { folder, secrets }: Context,
  name: Server,
  route: Route,
  env: Variables = {},
): Promise<Started> {
  const cwd = join(folder, 'servers', name);
  mkdirSync(cwd, { recursive: true });
  const server = start([process.execPath, millrace, 'start', '--host', addressOf[name]], {
    node: name,
    name,
    folder,
    cwd,
    env: {
      ...databaseVariables(route),
      MILLRACE_MASTER_KEY: secrets.masterKey,
      MILLRACE_BOOTSTRAP_PROD_SECRET_KEY: secrets.secretKey,
      MILLRACE_TRUSTED_PROXIES: network,
      ...env,
    },
  });
  const ended = server.exited.then((code) => Promise.reject(new Error(`${name} ended with code ${code}.`)));
  const ready = until(
    `${name} is ready`,
    90,
    async () => (await fetch(`http://${addressOf[name]}:4400/readyz`)).ok,
  );
  // It may also end later.
  ended.catch(() => {});
  await Promise.race([ready, ended]);
  return server;
}

/** The folder of the deployments that a runner has fetched. */
export const cacheOf = (folder: string, name: Runner): string => join(folder, 'runners', name, 'cache');

export function startRunner({ folder, secrets }: Context, name: Runner, env: Variables = {}): Started {
  const cwd = join(folder, 'runners', name);
  mkdirSync(cwd, { recursive: true });
  return start([process.execPath, millrace, 'work', '--env', 'prod', '--concurrency', '40'], {
    node: name,
    name,
    folder,
    cwd,
    env: {
      ...clientVariables(secrets),
      MILLRACE_CACHE: cacheOf(folder, name),
      // The tasks record their effects in this file, and the runner that executed them.
      FAULTS_EFFECTS: effectsOf(folder),
      FAULTS_RUNNER: name,
      ...env,
    },
  });
}

export const effectsOf = (folder: string): string => join(folder, 'effects.jsonl');

/** Deploys the project from the suite's own node. Its version becomes current although no runner has started yet. */
export function deploy({ secrets }: Context): void {
  const variables = Object.entries(clientVariables(secrets)).map(([name, value]) => `${name}=${value}`);
  const command = [process.execPath, millrace, 'deploy', '--env', 'prod', '--force'];
  run('env', '-C', projectFolder, ...variables, ...command);
}
