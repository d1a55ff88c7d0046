import { Command } from 'commander';
import { call } from '../call.ts';
import { environment } from '../options.ts';
import { printTable } from '../print-table.ts';
import { findProject, withProjectOptions, type ProjectOptions } from '../project.ts';
import { printJson, screenOn } from '../screen.ts';

export const environmentsCommand = (): Command =>
  withProjectOptions(
    new Command('environments').description('list the environments and branches of a project'),
  ).action(async (options: ProjectOptions) => {
    const { login, projectRef } = await findProject(options);
    const environments = await call(login, 'listEnvironments', { params: { projectRef } });
    if (options.json) return environments.forEach(printJson);
    printTable(
      ['environment', 'branch', 'id', 'state'],
      environments.map(({ slug, branchName, id, paused }) => [
        slug,
        branchName ?? '',
        id,
        paused ? 'paused' : 'runs',
      ]),
    );
  });

type PauseOptions = ProjectOptions & { readonly branch?: string };

const pausing = (name: 'pause' | 'resume', description: string): Command =>
  withProjectOptions(
    new Command(name)
      .description(description)
      .argument('<environment>', 'dev (your own), stg, prod or preview', environment)
      .option('--branch <name>', 'branch of the preview or dev environment'),
  ).action(async (env: string, options: PauseOptions) => {
    const { login, projectRef } = await findProject(options);
    const { branch } = options;
    const changed = await call(login, `${name}Environment`, {
      params: { projectRef, env },
      ...(branch !== undefined && { headers: { 'x-service-branch': branch } }),
    });
    if (options.json) return printJson(changed);
    const which = branch === undefined ? env : `${env} branch ${branch}`;
    screenOn(process.stdout).line(
      changed.paused ? `${which} is paused: new runs wait.` : `${which} is resumed.`,
    );
  });

export const pauseCommand = (): Command => pausing('pause', 'pause an environment: active runs continue');
export const resumeCommand = (): Command => pausing('resume', 'resume a paused environment');
