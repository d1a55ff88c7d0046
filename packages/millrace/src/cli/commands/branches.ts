import { Command } from 'commander';
import { call } from '../call.ts';
import { environment } from '../options.ts';
import { printTable } from '../print-table.ts';
import { findProject, withProjectOptions, type ProjectOptions } from '../project.ts';
import { printJson, screenOn } from '../screen.ts';

interface BranchOptions extends ProjectOptions {
  readonly env: string;
}

const withBranchOptions = (command: Command): Command =>
  withProjectOptions(command).option('--env <environment>', 'preview or dev', environment, 'preview');

const listCommand = (): Command =>
  withProjectOptions(new Command('list').description("a project's live branches")).action(
    async (options: ProjectOptions) => {
      const { login, projectRef } = await findProject(options);
      const { branches } = await call(login, 'listBranches', { params: { projectRef } });
      if (options.json) return branches.forEach(printJson);
      printTable(
        ['branch', 'environment', 'id', 'made'],
        branches.map(({ name, env, id, createdAt }) => [name, env, id, createdAt]),
      );
    },
  );

const createCommand = (): Command =>
  withBranchOptions(
    new Command('create')
      .description('make a branch, unless it is there')
      .argument('<name>', 'such as feat/login'),
  ).action(async (branch: string, options: BranchOptions) => {
    const { login, projectRef } = await findProject(options);
    const { env } = options;
    const made = await call(login, 'createBranch', { params: { projectRef }, body: { branch, env } });
    if (options.json) return printJson(made);
    screenOn(process.stdout).line(
      `${branch} is a branch of ${env} (${made.id}): send it as x-service-branch.`,
    );
  });

const archiveCommand = (): Command =>
  withBranchOptions(
    new Command('archive')
      .description('archive a branch; its name is free again')
      .argument('<name>', 'the branch'),
  ).action(async (branch: string, options: BranchOptions) => {
    const { login, projectRef } = await findProject(options);
    const body = { branch, env: options.env };
    const archived = await call(login, 'archiveBranch', { params: { projectRef }, body });
    if (options.json) return printJson(archived);
    screenOn(process.stdout).line(`Archived ${branch}.`);
  });

export const branchesCommand = (): Command =>
  new Command('branches')
    .description('branches of preview and dev')
    .addCommand(listCommand())
    .addCommand(createCommand())
    .addCommand(archiveCommand());
