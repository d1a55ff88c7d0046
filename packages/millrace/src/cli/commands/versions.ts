import type { DeployedTask, Deployment, DeploymentDetails, Promoted } from '@millrace/sdk';
import { Command, Option } from 'commander';
import { readableSize } from '@millrace/contract/plain';
import { age } from '../age.ts';
import { confirmed } from '../confirm.ts';
import { promoteWhenLoaded } from '../../deploy/promote.ts';
import { findServer, openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { grace, percentage, positiveInteger } from '../options.ts';
import { printTable } from '../print-table.ts';
import { printJson, screenOn, table, type Screen } from '../screen.ts';
import { compareCommand } from './versions-compare.ts';
import { moveCommand } from './versions-move.ts';
import { waitsFor } from '../waiting.ts';

interface VersionOptions extends ConnectionOptions {
  readonly json?: boolean;
}

const withVersionOptions = (command: Command): Command =>
  withConnectionOptions(command).option('--json', 'print JSON');

const stateText = ({ state, canaryPercent }: Deployment, paint: Screen['paint']): string => {
  if (canaryPercent !== null) return paint.yellow(`canary ${canaryPercent} %`);
  return state === 'current' ? paint.green(state) : state;
};

const listCommand = (): Command =>
  withVersionOptions(new Command('list').description('list versions, newest first'))
    .option('--limit <count>', 'maximum number of results', positiveInteger, 20)
    .action(async ({ limit, json, ...connection }: VersionOptions & { limit: number }) => {
      const { deployments } = await openClient(connection);
      const found: Deployment[] = [];
      for await (const deployment of deployments.list({ limit: Math.min(limit, 100) })) {
        found.push(deployment);
        if (found.length === limit) break;
      }
      if (json) return found.forEach(printJson);
      const { paint } = screenOn(process.stdout);
      printTable(
        ['version', 'state', 'age', 'tasks', 'runners', 'live runs', 'from', 'message'],
        found.map((deployment) => [
          deployment.version,
          stateText(deployment, paint),
          age(deployment.createdAt),
          String(deployment.tasks),
          String(deployment.runners),
          String(deployment.liveRuns),
          deployment.isUploaded ? 'upload' : 'folder',
          deployment.message ?? deployment.git?.message ?? '',
        ]),
      );
    });

const schemaText = ({ payloadSchema, payloadSchemaNote }: DeployedTask): string =>
  payloadSchema === null ? (payloadSchemaNote ?? '') : 'JSON Schema';

function printVersion(deployment: DeploymentDetails, { line, paint }: Screen): void {
  line(paint.bold(`${deployment.version}  ${deployment.state}`));
  const { git } = deployment;
  const properties = [
    ['id', deployment.id],
    ['created', deployment.createdAt.toISOString()],
    ...(deployment.canaryPercent === null ? [] : [['canary', `${deployment.canaryPercent} % of new runs`]]),
    ['first current', deployment.deployedAt?.toISOString() ?? 'never'],
    ['tasks', String(deployment.tasks)],
    [
      'size',
      deployment.isUploaded
        ? readableSize(deployment.bytes)
        : 'not uploaded: only runners with its folder serve it',
    ],
    ['Node.js', deployment.runtimeVersion ?? 'unknown'],
    ['platforms', deployment.platforms.join(', ') || 'any'],
    ...(deployment.requires.length > 0 ? [['requires', deployment.requires.join(', ')]] : []),
    ['SDK', deployment.sdkVersion ?? 'unknown'],
    ...(git
      ? [
          [
            'git',
            [git.commit, git.branch, git.dirty ? 'with changes' : '', git.author].filter(Boolean).join(' '),
          ],
        ]
      : []),
    ['by', [deployment.deployedBy, deployment.deployedFrom].filter(Boolean).join(' from ') || 'unknown'],
    ...(deployment.message === null ? [] : [['message', deployment.message]]),
    ...(deployment.externalId === null ? [] : [['external id', deployment.externalId]]),
    ['runners', String(deployment.runners)],
    ['live runs', String(deployment.liveRuns)],
    ['content', deployment.contentHash],
    ...(deployment.error ? [['error', `${deployment.error.name}: ${deployment.error.message}`]] : []),
  ];
  for (const row of table(properties)) line(row);
  line();
  printTable(
    ['task', 'file', 'payload'],
    deployment.declaredTasks.map((task) => [task.id, task.filePath, schemaText(task)]),
  );
}

const showCommand = (): Command =>
  withVersionOptions(
    new Command('show')
      .description('show a version')
      .argument('<version>', 'version, such as 20261121.3, or its ID'),
  ).action(async (version: string, { json, ...connection }: VersionOptions) => {
    const { deployments } = await openClient(connection);
    const found = await deployments.retrieve(version);
    if (json) return printJson(found);
    printVersion(found, screenOn(process.stdout));
  });

function printPromoted(promoted: Promoted, json: boolean | undefined): void {
  if (json) return printJson(promoted);
  const { version, replaced, canaryPercent } = promoted;
  const { line } = screenOn(process.stdout);
  if (canaryPercent !== null)
    return line(
      `${version} is the canary: ${canaryPercent} % of the new runs start on it. Promote it without --percent, or abort it.`,
    );
  line(
    replaced === null || replaced === version
      ? `${version} is current.`
      : `${version} is current. Runs that started on ${replaced} finish there.`,
  );
}

interface PromoteOptions extends VersionOptions {
  readonly allowRollback?: boolean;
  readonly force?: boolean;
  readonly percent?: number;
  /** Milliseconds. */
  readonly wait: number;
}

const withPromoteOptions = (command: Command): Command =>
  withVersionOptions(command)
    .option('--force', 'promote the version even if no connected runner has loaded it')
    .addOption(
      new Option('--wait <duration>', 'maximum wait for a runner to load the version')
        .default(60_000, '60s')
        .argParser(grace),
    );

/** Runners load an old version only on request, so this may take a moment. */
async function promote(
  { version, requires, platforms }: Deployment,
  { force = false, wait, json, percent, allowRollback = false, ...connection }: PromoteOptions,
): Promise<void> {
  const { url, key } = await findServer(connection);
  waitsFor('a runner to load the version', 1_000);
  const promotion = await promoteWhenLoaded(
    { url, key, branch: connection.branch },
    version,
    // Only the server knows the required Node.js version.
    { nodeMajor: 0, requires, platforms },
    { allowRollbacks: allowRollback, force, percent, waitMs: wait },
  );
  waitsFor();
  if ('why' in promotion)
    throw new CommandFailed(
      exitCodes.failed,
      `${version} is not current. ${promotion.why} Start \`millrace work\`, or pass --force: new runs then wait for a runner.`,
    );
  printPromoted(promotion, json);
}

const promoteCommand = (): Command =>
  withPromoteOptions(
    new Command('promote')
      .description('make a version current: new runs start on it')
      .argument('<version>', 'version, such as 20261121.3, or its ID'),
  )
    .option('--percent <number>', 'start a canary with this percentage of new runs, from 1 to 99', percentage)
    .option('--allow-rollback', 'allow a version older than the current one')
    .action(async (version: string, options: PromoteOptions) => {
      const { deployments } = await openClient(options);
      await promote(await deployments.retrieve(version), options);
    });

const abortCommand = (): Command =>
  withVersionOptions(
    new Command('abort')
      .description('end a canary: new runs start on the current version again')
      .argument('<version>', 'version of the canary, such as 20261121.3, or its ID'),
  ).action(async (version: string, { json, ...connection }: VersionOptions) => {
    const { deployments } = await openClient(connection);
    const aborted = await deployments.abortCanary(version);
    if (json) return printJson(aborted);
    screenOn(process.stdout).line(
      `${aborted.version} is no longer the canary. Runs that started on it remain on it.`,
    );
  });

const rollbackCommand = (): Command =>
  withPromoteOptions(
    new Command('rollback').description('make the previously current version current again'),
  ).action(async (options: PromoteOptions) => {
    const { deployments } = await openClient(options);
    const current = await deployments.retrieveCurrent();
    let isOlder = false;
    for await (const deployment of deployments.list({ limit: 100 })) {
      const wasCurrent =
        deployment.deployedAt !== undefined &&
        deployment.state !== 'archived' &&
        deployment.state !== 'failed';
      if (isOlder && wasCurrent) return promote(deployment, { ...options, allowRollback: true });
      if (deployment.id === current.id) isOlder = true;
    }
    throw new CommandFailed(
      exitCodes.failed,
      `No previously current version before ${current.version} is available. \`millrace versions list\` lists the versions; \`versions promote --allow-rollback\` promotes any of them.`,
    );
  });

const archiveCommand = (): Command =>
  withVersionOptions(
    new Command('archive')
      .description('archive a version and permanently delete its files')
      .argument('<version>', 'version, such as 20261121.3, or its ID'),
  )
    .option('-y, --yes', 'skip the confirmation prompt')
    .action(async (version: string, { yes, json, ...connection }: VersionOptions & { yes?: boolean }) => {
      const { deployments } = await openClient(connection);
      const found = await deployments.retrieve(version);
      const question = `Permanently archive ${found.version} (${found.tasks} tasks, ${readableSize(found.bytes)})?`;
      if (!yes && !(await confirmed(question, 'pass --yes')))
        throw new CommandFailed(exitCodes.failed, 'Not archived.');
      const archived = await deployments.archive(found);
      if (json) return printJson(archived);
      screenOn(process.stdout).line(`Archived ${archived.version}.`);
    });

export const versionsCommand = (): Command =>
  new Command('versions')
    .description('list, compare, promote, roll back and archive versions')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(compareCommand())
    .addCommand(promoteCommand())
    .addCommand(rollbackCommand())
    .addCommand(abortCommand())
    .addCommand(moveCommand())
    .addCommand(archiveCommand());
