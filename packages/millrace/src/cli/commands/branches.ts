import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { call, CallRefused } from '../call.ts';
import { confirmed } from '../confirm.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { isPreviewKey } from '../key-environment.ts';
import { tokenOption, type Login } from '../login.ts';
import { environment } from '../options.ts';
import { printTable } from '../print-table.ts';
import { findProject, withProjectOptions, type ProjectOptions } from '../project.ts';
import { printJson, screenOn } from '../screen.ts';

interface BranchOptions extends ProjectOptions {
  readonly env: string;
}

const withBranchOptions = (command: Command): Command =>
  withProjectOptions(command).option('--env <environment>', 'preview or dev', environment, 'preview');

/** With a preview key, as in CI, the project of the key. */
async function findBranches(options: ProjectOptions): Promise<{ login: Login; projectRef: string }> {
  const key = tokenOption(options) ?? process.env['MILLRACE_SECRET_KEY'];
  const { url, project } = options;
  if (url === undefined || key === undefined || !isPreviewKey(key)) return findProject(options);
  const login = { url, token: key };
  const projectRef = project ?? (await call(login, 'whoami')).project?.ref ?? '';
  return { login, projectRef };
}

const listCommand = (): Command =>
  withProjectOptions(new Command('list').description('list the active branches of a project')).action(
    async (options: ProjectOptions) => {
      const { login, projectRef } = await findBranches(options);
      const { branches } = await call(login, 'listBranches', { params: { projectRef } });
      if (options.json) return branches.forEach(printJson);
      printTable(
        ['branch', 'environment', 'id', 'made', 'schedules'],
        branches.map(({ name, env, id, createdAt, schedules }) => [
          name,
          env,
          id,
          createdAt,
          schedules ? 'on' : 'off',
        ]),
      );
    },
  );

interface CreateOptions extends BranchOptions {
  readonly schedules?: boolean;
}

const createCommand = (): Command =>
  withBranchOptions(
    new Command('create')
      .description('create a branch if it does not exist')
      .argument('<name>', 'branch name, such as feat/login'),
  )
    .option('--schedules', 'enable declared schedules in the branch')
    .option('--no-schedules', 'disable declared schedules in the branch (default for a new branch)')
    .action(async (branch: string, options: CreateOptions) => {
      const { login, projectRef } = await findBranches(options);
      const { env, schedules } = options;
      const body = { branch, env, schedules };
      const created = await call(login, 'createBranch', { params: { projectRef }, body });
      if (options.json) return printJson(created);
      screenOn(process.stdout).line(
        `${branch} is a branch of ${env} (${created.id}). Select it with the header x-service-branch. Its declared schedules are ${created.schedules ? 'on' : 'off'}.`,
      );
    });

interface ArchiveOptions extends BranchOptions {
  readonly yes?: boolean;
}

/** Milliseconds between two checks for live attempts. */
const pollMs = 500;

const archiveCommand = (): Command =>
  withBranchOptions(
    new Command('archive')
      .description('archive a branch and cancel its runs; its name can be reused')
      .argument('<name>', 'branch name'),
  )
    .option('-y, --yes', 'skip the confirmation prompt if runs have not ended')
    .action(async (branch: string, options: ArchiveOptions) => {
      const { login, projectRef } = await findBranches(options);
      const { env, yes = false } = options;
      const archive = (cancelRuns: boolean) =>
        call(login, 'archiveBranch', { params: { projectRef }, body: { branch, env, cancelRuns } });
      const { line } = screenOn(process.stderr);
      let canceled = 0;
      let archived = await archive(yes).catch(async (error: unknown) => {
        if (!(error instanceof CallRefused) || error.code !== 'branch_has_runs') throw error;
        const liveRuns = Number(error.reply['liveRuns']);
        const runs = liveRuns === 1 ? '1 run that has' : `${liveRuns} runs that have`;
        const found = `${branch} has ${runs} not ended.`;
        if (
          !(await confirmed(
            `${found} Cancel and archive?`,
            `pass --yes to cancel them: ${found.slice(0, -1)}`,
          ))
        )
          throw new CommandFailed(exitCodes.failed, 'Nothing was canceled or archived.');
        return archive(true);
      });
      for (let reported = 0; !archived.isArchived; archived = await archive(true)) {
        canceled += archived.canceled;
        const { liveRuns } = archived;
        if (!options.json && liveRuns !== reported)
          line(`Cancelled ${canceled}; waiting for ${liveRuns} to end.`);
        reported = liveRuns;
        await sleep(pollMs);
      }
      canceled += archived.canceled;
      if (options.json) return printJson({ ...archived, canceled });
      const runs = canceled === 1 ? '1 run' : `${canceled} runs`;
      screenOn(process.stdout).line(`Archived ${branch}${canceled > 0 ? `, and cancelled ${runs}` : ''}.`);
    });

export const branchesCommand = (): Command =>
  new Command('branches')
    .description('manage branches of the preview and dev environments')
    .addCommand(listCommand())
    .addCommand(createCommand())
    .addCommand(archiveCommand());
