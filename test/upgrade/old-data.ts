/** PostgreSQL 17 data folders, and the commands of docs/upgrading.md that upgrade them. */
import { createHash } from 'node:crypto';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  clusterMajor,
  readBinaries,
  serverUser,
  startPostgres,
} from '../../packages/postgres/src/cluster/index.ts';
import { connect, type Database } from '../../packages/server/src/db/connect.ts';
import { shell } from '../cli/command.ts';
import { blocksOf } from '../cli/documented-page.ts';
import { present } from './installation.ts';

export type Binaries = NonNullable<Awaited<ReturnType<typeof readBinaries>>>;
export type Documented = Readonly<Record<'copy' | 'install' | 'upgrade' | 'upgradeWith' | 'remove', string>>;

/** The commands of the page, with the data folder `data`. */
async function documentedCommands(): Promise<Documented> {
  const blocks = (await blocksOf('upgrading.md'))('sh').map((block) =>
    block.replaceAll('/var/lib/millrace', 'data').replace('linux-x64', `${process.platform}-${process.arch}`),
  );
  const command = (pattern: RegExp): string =>
    blocks.flatMap((block) => block.split('\n')).find((line) => pattern.test(line)) ?? '';
  return {
    copy: command(/^cp /),
    install: command(/^npm install/),
    upgrade: command(/upgrade-data .*data$/),
    upgradeWith: command(/--from-binaries/),
    remove: command(/--remove-old/),
  };
}

/** Installs PostgreSQL 17 in a folder as on the page: in `postgres-17`. */
export async function installOld(
  folder: string,
): Promise<{ readonly documented: Documented; readonly binaries: Binaries }> {
  await symlink(present.nodeModules, join(folder, 'node_modules'));
  const documented = await documentedCommands();
  await shell(documented.install, folder);
  const binaries = await readBinaries(join(folder, 'postgres-17'), serverUser('/nowhere'));
  if (!binaries) throw new Error(`${documented.install} installed no PostgreSQL`);
  return { documented, binaries };
}

/** The content of a data folder without a running server: the row count and digest of each table, and the value of each sequence. */
export async function contentOf(dataDir: string, binaries: Binaries): Promise<Record<string, string>> {
  const isOld = clusterMajor(join(dataDir, 'postgres')) === binaries.major;
  const running = await startPostgres({ dataDir, ...(isOld && { binaries }) });
  return contentIn(running.connection).finally(() => running.stop());
}

async function contentIn(database: Database): Promise<Record<string, string>> {
  const sql = connect(database, { name: 'test', max: 1 });
  try {
    const relations = await sql<{ name: string; kind: string }[]>`
      select relname as name, relkind as kind from pg_class
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'S') and relname not in ('migrations', 'installed_functions')`;
    const content: Record<string, string> = {};
    for (const { name, kind } of relations) {
      const rows = await sql.unsafe<{ text: string }[]>(
        kind === 'S'
          ? `select last_value || ' ' || is_called as text from ${name}`
          : `select to_jsonb(t)::text as text from ${name} t order by 1`,
      );
      const digest = createHash('sha256').update(rows.map(({ text }) => text).join('\n'));
      content[name] = `${rows.length} ${kind === 'S' ? rows[0]?.text : digest.digest('hex')}`;
    }
    return content;
  } finally {
    await sql.end();
  }
}
