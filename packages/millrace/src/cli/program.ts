import { Command } from 'commander';
import { auditCommand } from './commands/audit.ts';
import { alertsCommand } from './commands/alerts.ts';
import { backupCommand } from './commands/backup.ts';
import { batchesCommand } from './commands/batches.ts';
import { branchesCommand } from './commands/branches.ts';
import { demoCommand } from './commands/demo.ts';
import { browsersCommand } from './commands/browsers.ts';
import { deployCommand } from './commands/deploy.ts';
import { devCommand } from './commands/dev.ts';
import { doctorCommand } from './commands/doctor.ts';
import { envCommand } from './commands/env.ts';
import { errorsCommand } from './commands/errors.ts';
import { eventsCommand } from './commands/events.ts';
import { exportCommand } from './commands/export.ts';
import { helpCommand } from './commands/help.ts';
import { importCommand } from './commands/import.ts';
import { initCommand } from './commands/init.ts';
import { keysCommand } from './commands/keys.ts';
import { loginCommand } from './commands/login.ts';
import { logoutCommand } from './commands/logout.ts';
import { logsCommand } from './commands/logs.ts';
import { mcpCommand } from './commands/mcp.ts';
import { membersCommand } from './commands/members.ts';
import { notificationsCommand } from './commands/notifications.ts';
import { outboxCommand } from './commands/outbox.ts';
import { openCommand } from './commands/open.ts';
import { orgsCommand } from './commands/orgs.ts';
import { projectsCommand } from './commands/projects.ts';
import { queuesCommand } from './commands/queues.ts';
import { restoreCommand } from './commands/restore.ts';
import { resumeInstallationCommand } from './commands/resume.ts';
import { runnersCommand } from './commands/runners.ts';
import { runsCommand } from './commands/runs.ts';
import { schedulesCommand } from './commands/schedules.ts';
import { startCommand } from './commands/start.ts';
import { statsCommand } from './commands/stats.ts';
import { storageCommand } from './commands/storage.ts';
import { tasksCommand } from './commands/tasks.ts';
import { tokensCommand } from './commands/tokens.ts';
import { triggerCommand } from './commands/trigger.ts';
import { upgradeDataCommand } from './commands/upgrade-data.ts';
import { versionsCommand } from './commands/versions.ts';
import { whoamiCommand } from './commands/whoami.ts';
import { whyCommand } from './commands/why.ts';
import { workCommand } from './commands/work.ts';
import { exitCodes } from './exit-codes.ts';
import { screenOn } from './screen.ts';
import { version } from '../version.ts';

const cleanup = `
Exit codes: 0 success, 1 failure, 2 invalid command line, 3 could not start, 4 server not reachable or key refused, 5 \`doctor\` found only warnings.`;

/** All commands. A command imports its implementation when it runs, so that --help is quick. */
export function program(): Command {
  const root = new Command('millrace')
    // Its own prints commands only.
    .helpCommand(false)
    .description('Background tasks in TypeScript: one command, one PostgreSQL, nothing lost.')
    .version(version, '-v, --version')
    .showSuggestionAfterError()
    .showHelpAfterError('(use --help for usage)')
    .addHelpText('after', cleanup)
    // Error messages quote the command line, so escape them too.
    .configureOutput({
      writeOut: (text) => screenOn(process.stdout).text(text.replace(/\n$/, '')),
      writeErr: (text) => screenOn(process.stderr).text(text.replace(/\n$/, '')),
      outputError: (text, write) => write(onlyNear(text)),
    });
  for (const command of [
    initCommand(),
    devCommand(),
    demoCommand(),
    doctorCommand(),
    startCommand(),
    resumeInstallationCommand(),
    backupCommand(),
    restoreCommand(),
    upgradeDataCommand(),
    workCommand(),
    deployCommand(),
    versionsCommand(),
    runnersCommand(),
    triggerCommand(),
    outboxCommand(),
    tasksCommand(),
    runsCommand(),
    whyCommand(),
    batchesCommand(),
    queuesCommand(),
    statsCommand(),
    logsCommand(),
    errorsCommand(),
    eventsCommand(),
    alertsCommand(),
    notificationsCommand(),
    envCommand(),
    exportCommand(),
    importCommand(),
    loginCommand(),
    logoutCommand(),
    openCommand(),
    browsersCommand(),
    whoamiCommand(),
    orgsCommand(),
    membersCommand(),
    projectsCommand(),
    keysCommand(),
    tokensCommand(),
    branchesCommand(),
    schedulesCommand(),
    auditCommand(),
    storageCommand(),
    mcpCommand(),
    helpCommand(),
  ]) {
    root.addCommand(command);
  }
  inherit(root);
  root.hook('preAction', (_, command) => refuseEmpty(command));
  return root;
}

/** Removes commander's suggestions with another first letter: it takes `logs` for near to `bogus`. */
function onlyNear(text: string): string {
  const typed = /^error: unknown (?:command|option) '(--?)?([^'])/.exec(text);
  if (!typed) return text;
  const [, dashes = '', letter = ''] = typed;
  return text.replace(/\n\(Did you mean (?:one of )?(.*)\?\)/, (_, suggested: string) => {
    const near = suggested.split(', ').filter((name) => name.startsWith(dashes + letter));
    if (near.length === 0) return '';
    return `\n(Did you mean ${near.length > 1 ? 'one of ' : ''}${near.join(', ')}?)`;
  });
}

/** Makes errors of all subcommands return to `main` instead of ending the process. */
function inherit(parent: Command): void {
  parent.exitOverride();
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent);
    inherit(command);
  }
}

/** Refuses empty arguments, as in `millrace trigger "$UNSET"`. */
function refuseEmpty(command: Command): void {
  const at = command.args.findIndex((argument) => argument.trim() === '');
  if (at === -1) return;
  const name =
    command.registeredArguments[Math.min(at, command.registeredArguments.length - 1)]?.name() ?? '';
  command.error(`error: argument '${name}' is empty: a variable of the shell may be unset`, {
    exitCode: exitCodes.usage,
    code: 'millrace.emptyArgument',
  });
}
