import { createHash } from 'node:crypto';
import { cp, mkdir, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { deployments } from '@millrace/sdk';
import { manifestFolder } from '@millrace/diagnostics';
import { packageFolder as ownFolder } from '@millrace/platform';
import { inherited } from '@millrace/runner';
import { prepare, type Prepared } from '../../deploy/prepare.ts';
import { upload } from '../../deploy/upload.ts';
import { loadProject } from '../../project/load.ts';
import type { Shop } from '../shop.ts';

interface Release {
  readonly message: string;
  /** The folder with the files of that release that differ from the current ones. */
  readonly overlay?: string;
  /** Current files that it did not have. */
  readonly without?: readonly string[];
}

/** Oldest first. */
const releases: readonly Release[] = [
  { message: 'Open the shop', overlay: '1', without: ['tasks/scheduled.ts', 'tasks/support-chat.ts'] },
  { message: 'Leave the check of postcodes to the carrier', overlay: '2', without: ['tasks/scheduled.ts'] },
  { message: 'Keep the points of customers in the ledger, and fetch exchange rates' },
];

/** The folder of the package with the source of the shop. */
const source = join(ownFolder, 'demo');
const require = createRequire(import.meta.url);

/** Writes the source of each release into its own folder and bundles it. */
export async function prepareReleases(folder: string): Promise<Prepared[]> {
  return Promise.all(
    releases.map(async (release, index) => {
      const dir = join(folder, `release-${index + 1}`);
      await writeSource(dir, release);
      return prepare(await loadProject(dir), {
        environment: async () => ({ env: { inherited: inherited(), added: {} }, secrets: [] }),
      });
    }),
  );
}

async function writeSource(dir: string, { overlay, without = [] }: Release): Promise<void> {
  await rm(dir, { recursive: true, force: true });
  await cp(join(source, 'shop'), dir, { recursive: true });
  for (const file of without) await rm(join(dir, file));
  if (overlay !== undefined) await cp(join(source, 'releases', overlay), dir, { recursive: true });
  // The packages that the source imports, wherever they are installed.
  for (const name of ['@millrace/sdk', 'zod', 'millrace']) {
    const link = join(dir, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(packageFolder(name), link, 'junction');
  }
}

function packageFolder(name: string): string {
  const folder = manifestFolder(name === 'millrace' ? source : dirname(require.resolve(name)));
  if (folder === undefined) throw new Error(`The package ${name} is not installed.`);
  return folder;
}

/** Uploads a release and makes it current. Returns its version. */
export async function deploy(
  { url, secretKey }: Shop,
  prepared: Prepared,
  number: 1 | 2 | 3,
): Promise<string> {
  const message = releases[number - 1]?.message ?? '';
  const commit = createHash('sha1').update(message).digest('hex');
  const git = { commit, branch: 'main', message, dirty: false };
  const { version } = await upload({ url, key: secretKey }, prepared, { message, git });
  // No runner is connected yet.
  await deployments.promote(version, { force: true });
  return version;
}
