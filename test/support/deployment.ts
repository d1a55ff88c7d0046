import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Bundle } from '../../packages/contract/src/runner/bundle.ts';
import type { DeployTarget } from '../../packages/millrace/src/deploy/client.ts';
import { prepare, type Prepared } from '../../packages/millrace/src/deploy/prepare.ts';
import { upload, type DeploymentNotes } from '../../packages/millrace/src/deploy/upload.ts';
import { loadProject } from '../../packages/millrace/src/project/load.ts';
import { startRunner, type RunnerOptions } from '../../packages/millrace/src/serve-folder/start.ts';
import type { Runner } from '../../packages/runner/src/runner/options.ts';

const sdk = fileURLToPath(new URL('../../packages/sdk', import.meta.url));

/** A folder that is removed when the test ends. */
export async function temporary(): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'millrace-test-')));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A project with these files and the SDK. */
export async function projectOf(files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await temporary();
  await mkdir(join(dir, 'node_modules', '@millrace'), { recursive: true });
  await symlink(sdk, join(dir, 'node_modules', '@millrace', 'sdk'));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, file)), { recursive: true });
    await writeFile(join(dir, file), text);
  }
  return dir;
}

interface Target {
  readonly url: string;
  readonly keys: { readonly prod: string };
}

/** Deploys a project with these files, without promoting it. Returns its version. */
export const deployed = (
  { url, keys }: Target,
  files: Readonly<Record<string, string>>,
  change?: (prepared: Prepared) => Prepared,
  notes?: DeploymentNotes,
): Promise<string> => deployedTo({ url, key: keys.prod }, files, change, notes);

export async function deployedTo(
  target: DeployTarget,
  files: Readonly<Record<string, string>>,
  change: (prepared: Prepared) => Prepared = (prepared) => prepared,
  notes: DeploymentNotes = {},
): Promise<string> {
  const { version } = await upload(target, change(await preparedOf(files)), notes);
  return version;
}

/** The same files produce the same bundle in any folder, so it is built once. */
const preparations = new Map<string, Promise<Prepared>>();

async function preparedOf(files: Readonly<Record<string, string>>): Promise<Prepared> {
  const key = JSON.stringify(files);
  const known = preparations.get(key);
  if (known) return known;
  const loaded = loadProject(await projectOf(files)).then((project) =>
    prepare(project, {
      environment: async () => ({
        env: { inherited: { PATH: process.env['PATH'] ?? '' }, added: {} },
        secrets: [],
      }),
    }),
  );
  preparations.set(key, loaded);
  // Blobs of bundles are in memory; those of layers are files of the project, which is removed with the test.
  const isLasting = loaded.then(
    ({ layers }) => layers.length === 0,
    () => false,
  );
  if (!(await isLasting)) preparations.delete(key);
  return loaded;
}

/** The bundle with other requirements. */
export const needing =
  (needs: Partial<Pick<Bundle, 'requires' | 'nodeMajor'>>) =>
  (prepared: Prepared): Prepared => ({ ...prepared, bundle: { ...prepared.bundle, ...needs } });

export interface FetchingRunner {
  readonly runner: Runner;
  readonly loaded: { readonly version: string; readonly took: number }[];
  readonly unable: { readonly version: string; readonly why: string }[];
}

/** A runner without a folder. */
export async function fetchingRunner(
  { url, keys }: Target,
  options: Partial<RunnerOptions> & { readonly folder?: string } = {},
): Promise<FetchingRunner> {
  const loaded: FetchingRunner['loaded'] = [];
  const unable: FetchingRunner['unable'] = [];
  const { folder = await temporary(), ...others } = options;
  const runner = await startRunner({
    url,
    secretKey: keys.prod,
    watch: false,
    cache: { folder },
    ...others,
    events: {
      onLoaded: (version, took) => loaded.push({ version, took }),
      onUnable: (version, why) => unable.push({ version, why }),
      ...others.events,
    },
  });
  onTestFinished(() => runner.stop({ waitMs: 0 }));
  return { runner, loaded, unable };
}
