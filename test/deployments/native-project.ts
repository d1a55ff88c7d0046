/** A project with packages that cannot be bundled and a workspace package. */
import { execFile } from 'node:child_process';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../cli/command.ts';
import { deployedProject, type DeployedProject, type Installation } from './installation.ts';

const run = promisify(execFile);

/** The packages that Prisma needs for SQLite: its engine is a package for each platform. */
export const prisma = {
  prisma: '^6.19.0',
  '@prisma/client': '^6.19.0',
  '@prisma/adapter-libsql': '^6.19.0',
};

/** The schema of a users table, and the hook that generates the client when the project is built. */
export const prismaFiles = {
  'prisma/schema.prisma': `
    generator client {
      provider   = "prisma-client"
      engineType = "client"
      output     = "../generated/prisma"
    }
    datasource db {
      provider = "sqlite"
      url      = "file:./unused.db"
    }
    model User {
      id   Int    @id @default(autoincrement())
      name String @unique
    }`,
  // The named engine is for migrations: generating a client does not start it, and must not fetch it.
  'millrace.config.ts': `
    export default {
      build: {
        extensions: [
          {
            name: 'prisma',
            beforeBuild: ({ run }: { run: (command: string) => Promise<void> }) =>
              run('PRISMA_SCHEMA_ENGINE_BINARY=/bin/sh npx prisma generate'),
          },
        ],
      },
    };`,
};

/** Opens a database file; the first call creates its table. */
export const openPrisma = `
import { PrismaLibSQL } from '@prisma/adapter-libsql';
import { PrismaClient } from '../generated/prisma/client.ts';
const openUsers = async (file: string) => {
  const prisma = new PrismaClient({ adapter: new PrismaLibSQL({ url: 'file:' + file }) });
  await prisma.$executeRawUnsafe(
    'create table if not exists User (id integer primary key autoincrement, name text not null unique)',
  );
  return prisma;
};`;

/** Installs the packages from the registry or the npm cache. The deployment later uses no registry. */
export async function nativeProject(
  installation: Pick<Installation, 'url'>,
  key: string,
  packages: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
): Promise<DeployedProject> {
  const manifest = {
    name: 'app',
    private: true,
    type: 'module',
    workspaces: ['packages/*'],
    dependencies: { ...packages, shared: '*' },
    allowScripts: {
      '@prisma/client': false,
      '@prisma/engines': false,
      prisma: false,
      esbuild: false,
      sharp: false,
    },
  };
  const project = await deployedProject(
    installation,
    key,
    {
      'package.json': JSON.stringify(manifest),
      'packages/shared/package.json': '{"name":"shared","version":"1.0.0","exports":"./index.ts"}',
      ...files,
    },
    { npm_config_prefer_offline: 'true' },
  );
  await rm(join(project.dir, 'node_modules'), { recursive: true });
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  await run('npm', ['install', ...options], { cwd: project.dir });
  await mkdir(join(project.dir, 'node_modules/@millrace'));
  await symlink(join(repository, 'packages/sdk'), join(project.dir, 'node_modules/@millrace/sdk'));
  return project;
}
