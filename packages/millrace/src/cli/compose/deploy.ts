import type { EnvironmentKind } from '@millrace/contract';
import { ProjectRefused } from '@millrace/diagnostics';
import { inherited } from '@millrace/runner';
import { ServerRefused } from '../../api/errors.ts';
import { callServer, type DeployTarget } from '../../deploy/client.ts';
import { readGitInfo } from '../../deploy/git.ts';
import { prepare, type DeployedTo, type Prepared } from '../../deploy/prepare.ts';
import { promoteWhenLoaded } from '../../deploy/promote.ts';
import { dotenvSecrets, type SecretValue } from '../../deploy/secret-values.ts';
import { setVariables } from '../../deploy/set-variables.ts';
import { upload, type Uploaded } from '../../deploy/upload.ts';
import { loadProject } from '../../project/load.ts';
import { findServer, type ConnectionOptions } from '../connection.ts';
import { dashboardLink } from '../dashboard-link.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { environmentOfKey } from '../key-environment.ts';
import { printJson, screenOn } from '../screen.ts';
import { listenForStop } from '../stop-request.ts';
import { waitsFor, waitsForServer } from '../waiting.ts';
import {
  noteExternals,
  noteMissingSchemas,
  printContents,
  printDeployment,
  uploadScreen,
  warnAboutFiles,
  warnAboutScripts,
  type Deployed,
} from './deploy-screen.ts';
import { publishedLines } from './published-lines.ts';
import { schedulesOff } from './schedules-off.ts';

export interface DeployCommandOptions extends ConnectionOptions {
  readonly project?: string;
  /** Whether declared schedules fire in the branch. Default: unchanged. */
  readonly schedules?: boolean;
  readonly promote: boolean;
  readonly force?: boolean;
  /** Milliseconds. */
  readonly wait: number;
  readonly message?: string;
  readonly externalId?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** How long a server may be unavailable during a deployment, in milliseconds. */
const patienceMs = 60_000;

/** Builds, uploads and promotes. Ctrl-C abandons an incomplete deployment. */
export async function deploy(options: DeployCommandOptions): Promise<void> {
  const abort = new AbortController();
  listenForStop(() => abort.abort());
  try {
    await (options.dryRun ? dryRun(options, abort.signal) : deployAll(options, abort.signal));
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    throw new CommandFailed(exitCodes.interrupted, 'Stopped. `millrace versions list` lists the versions.');
  } finally {
    waitsFor();
  }
}

const externalOf = ({ externals }: Prepared): { readonly name: string; readonly why: string }[] =>
  externals.map(({ name, why }) => ({ name, why }));

async function dryRun(options: DeployCommandOptions, signal: AbortSignal): Promise<void> {
  const target = await findTarget(options, signal).catch((error: unknown) => {
    // Without a key, task files are imported without the variables of the environment.
    if (error instanceof CommandFailed && error.exitCode === exitCodes.cannotReach) return undefined;
    throw error;
  });
  // A branch is not created for it, so task files are imported without its variables.
  const isBranch = options.branch !== undefined;
  const prepared = await build(options, isBranch ? undefined : target, signal);
  if (options.json) {
    const { bundle, tasks } = prepared;
    return printJson({
      tasks: tasks.map(({ id }) => id),
      nodeMajor: bundle.nodeMajor,
      files: bundle.files.map(({ path, size, blobSize }) => ({ path, size, blobSize })),
      layers: prepared.layers.map(({ platform, size, blobSize, packages }) => ({
        platform,
        size,
        blobSize,
        packages,
      })),
      packages: Object.fromEntries(prepared.bytesByPackage),
      external: externalOf(prepared),
    });
  }
  printContents(prepared, screenOn(process.stdout));
}

async function deployAll(options: DeployCommandOptions, signal: AbortSignal): Promise<void> {
  const startedAt = performance.now();
  const target = await findTarget(options, signal);
  const prepared = await build(options, target, signal);
  const builtAt = performance.now();
  noteExternals(prepared, screenOn(process.stderr));
  warnAboutScripts(prepared, screenOn(process.stderr));
  warnAboutFiles(prepared, screenOn(process.stderr));
  noteMissingSchemas(prepared, screenOn(process.stderr));
  // The server has responded by now, but it may be replaced in the meantime.
  const known = { ...target, patienceMs };
  const uploaded = await uploadAll(known, prepared, options);
  if (prepared.variables.length > 0) {
    const projectRef = await projectOf(target, options.project, undefined);
    if (projectRef !== undefined)
      await setVariables(known, { projectRef, env: environmentOfKey(target.key) }, prepared.variables);
  }
  const ending = await promoteIt(known, prepared, uploaded, options);
  const deployed: Deployed = {
    id: uploaded.id,
    version: uploaded.version,
    isNew: uploaded.isNew,
    ...ending,
    schedulesOff: await schedulesOff(known, options.project, prepared.tasks),
    files: uploaded.files,
    sentBytes: uploaded.sentBytes,
    buildMs: Math.round(builtAt - startedAt),
    deployMs: Math.round(performance.now() - builtAt),
    dashboardUrl: await dashboardLink(target, `versions/${uploaded.version}`),
  };
  if (options.json) printJson({ ...deployed, external: externalOf(prepared) });
  else printDeployment(deployed, screenOn(process.stdout));
  if (ending.failure !== undefined) throw new CommandFailed(exitCodes.failed, ending.failure);
}

/** The server, and the branch if it exists. */
async function findTarget(options: DeployCommandOptions, signal: AbortSignal): Promise<DeployTarget> {
  const { url, key } = await findServer(options);
  const { branch, schedules } = options;
  if (branch === undefined) {
    if (schedules !== undefined)
      throw new CommandFailed(exitCodes.usage, '--schedules and --no-schedules require --branch.');
    return { url, key, signal };
  }
  if (environmentOfKey(key) !== 'preview')
    throw new CommandFailed(exitCodes.usage, '--branch requires a preview secret key.');
  return { url, key, branch, signal };
}

async function build(
  options: DeployCommandOptions,
  target: DeployTarget | undefined,
  signal: AbortSignal,
): Promise<Prepared> {
  const project = await loadProject(options.dir);
  if (project.published && !options.json)
    for (const text of publishedLines(project.published)) screenOn(process.stderr).line(text);
  const read = async (): Promise<DeployedTo> => {
    const variables = await variablesOf(target, options.project ?? project.ref, options.schedules);
    return {
      env: {
        inherited: inherited(),
        added: {
          ...variables.values,
          ...(target && { MILLRACE_API_URL: target.url }),
          ...(options.branch !== undefined && { MILLRACE_PREVIEW_BRANCH: options.branch }),
        },
      },
      secrets: [...variables.secrets, ...(await dotenvSecrets(project.dir))],
      at: {
        projectRef: variables.projectRef ?? project.ref ?? '',
        environment: target ? publishedName(environmentOfKey(target.key)) : 'prod',
        branch: options.branch,
      },
    };
  };
  // An unresponsive server is detected before the project is built. A branch is created afterwards, because its variables are needed then.
  const early = target?.branch === undefined ? await read() : undefined;
  return prepare(project, {
    environment: async () => early ?? read(),
    onStep: (step) => waitsFor(step),
    signal,
  });
}

/** The published SDK's name for an environment. */
const publishedName = (env: EnvironmentKind): string => (env === 'stg' ? 'staging' : env);

interface Variables {
  readonly projectRef?: string;
  readonly values: Record<string, string>;
  readonly secrets: SecretValue[];
}

async function variablesOf(
  target: DeployTarget | undefined,
  named: string | null | undefined,
  schedules: boolean | undefined,
): Promise<Variables> {
  if (target) waitsForServer(target.url);
  const projectRef = target && (await projectOf(target, named, schedules));
  return target && projectRef !== undefined
    ? { ...(await readableVariables(target, projectRef)), projectRef }
    : { values: {}, secrets: [] };
}

/** The project of the key, which must match the given one. A branch is created unless it exists. */
async function projectOf(
  target: DeployTarget,
  named: string | null | undefined,
  schedules: boolean | undefined,
): Promise<string | undefined> {
  const { branch } = target;
  const parent = { ...target, branch: undefined };
  const ofKey = (await callServer(parent, 'whoami')).project?.ref;
  if (typeof named === 'string' && ofKey !== undefined && named !== ofKey)
    throw new CommandFailed(
      exitCodes.usage,
      `The key belongs to the project ${ofKey}, but millrace.config.ts or --project specifies ${named}. Use a key of that project.`,
    );
  const projectRef = ofKey ?? named ?? undefined;
  if (branch === undefined || projectRef === undefined) return projectRef;
  const body = { branch, env: 'preview', schedules };
  await callServer(parent, 'createBranch', { params: { projectRef }, body });
  return projectRef;
}

/** The variables of future runs, if the key may read them. */
async function readableVariables(target: DeployTarget, projectRef: string): Promise<Variables> {
  const env = environmentOfKey(target.key);
  try {
    const [{ variables }, listed] = await Promise.all([
      callServer(target, 'readVariables', { params: { projectRef } }),
      callServer(target, 'listVariables', { params: { projectRef, env } }),
    ]);
    const secrets = listed
      .filter(({ isSecret }) => isSecret)
      .map(({ name }) => ({
        name,
        value: variables[name] ?? '',
        from: 'a secret variable of the environment',
      }));
    return { values: variables, secrets };
  } catch (error) {
    if (error instanceof ServerRefused && error.status === 403) return { values: {}, secrets: [] };
    throw error;
  }
}

async function uploadAll(
  target: DeployTarget,
  prepared: Prepared,
  { dir, message, externalId }: DeployCommandOptions,
): Promise<Uploaded> {
  let unfinished: string | undefined;
  const screen = uploadScreen();
  waitsForServer(target.url);
  try {
    const uploaded = await upload(
      target,
      prepared,
      { message, externalId, git: await readGitInfo(dir) },
      ({ id, isNew }) => {
        waitsFor();
        if (isNew) unfinished = id;
      },
      screen.show,
    );
    return uploaded;
  } catch (error) {
    // After a lost connection it remains, and the next deployment of the same content continues it.
    if (target.signal?.aborted && unfinished !== undefined) await giveUp(target, unfinished);
    throw explained(error, prepared);
  } finally {
    screen.end();
  }
}

const giveUpMs = 2_000;

async function giveUp(target: DeployTarget, deploymentId: string): Promise<void> {
  const error = { name: 'Interrupted', message: 'The command that deployed it was stopped.' };
  await callServer({ ...target, signal: AbortSignal.timeout(giveUpMs) }, 'failDeployment', {
    params: { deploymentId },
    body: { error },
  }).catch(() => undefined);
}

/** A task declaration that the server rejects is a problem of the project. */
function explained(error: unknown, { tasks }: Prepared): unknown {
  if (!(error instanceof ServerRefused) || ![400, 422].includes(error.status)) return error;
  const path = error.details[0]?.path ?? [];
  const task = path[0] === 'tasks' ? tasks[Number(path[1])] : tasks.find(({ id }) => id === error.task);
  if (!task) return error;
  const message = `${path[0] === 'tasks' ? `task "${task.id}": ` : ''}${error.message.replace(/^\d+ /, '')}`;
  return new ProjectRefused([{ file: task.filePath, line: null, column: null, message }], 'uploaded');
}

type Ending = Pick<Deployed, 'isCurrent' | 'replaced' | 'reason'> & { readonly failure?: string };

async function promoteIt(
  target: DeployTarget,
  { bundle }: Prepared,
  { version, isNew }: Uploaded,
  { promote, force = false, wait }: DeployCommandOptions,
): Promise<Ending> {
  const before = await currentVersion(target);
  if (before === version) return { isCurrent: true, replaced: null };
  if (!promote) return { isCurrent: false, replaced: null, reason: 'promotion was not requested' };
  try {
    waitsFor('a runner to load the version');
    // Deploying known content is meant to restore it. A new version is the newest, unless another was deployed in the meantime.
    const promotion = await promoteWhenLoaded(
      target,
      version,
      { ...bundle, platforms: bundle.layers.map(({ platform }) => platform) },
      { allowRollbacks: !isNew, force, waitMs: wait },
    );
    waitsFor();
    if ('why' in promotion) {
      const { why } = promotion;
      return {
        isCurrent: false,
        replaced: null,
        reason: why,
        failure: `${version} is uploaded and ready, but not current. ${why} Start \`millrace work\` and then \`millrace versions promote ${version}\`, or deploy with --force: new runs then wait for a runner.`,
      };
    }
    // Another deployment of the same content may have promoted it first.
    const replaced = promotion.replaced === version ? null : promotion.replaced;
    const now = await currentVersion(target);
    return now === version
      ? { isCurrent: true, replaced }
      : { isCurrent: false, replaced: null, reason: `${now ?? 'another'} was promoted at the same time` };
  } catch (error) {
    if (!(error instanceof ServerRefused)) throw error;
    // Content of an older version, with a key that may not roll back.
    if (error.code === 'unauthorized') {
      const reason = error.message.replace(/^403 (Unauthorized: )?/, '');
      return {
        isCurrent: false,
        replaced: null,
        reason,
        failure: `${version} is ready, but not current: ${reason}`,
      };
    }
    if (error.code !== 'version_outdated') throw error;
    // Only a version that this deployment created must not roll back, so the current one was created after it.
    const now = await currentVersion(target);
    const reason = `${now ?? 'another'} was promoted at the same time, and is newer`;
    return { isCurrent: false, replaced: null, reason };
  }
}

async function currentVersion(target: DeployTarget): Promise<string | undefined> {
  try {
    return (await callServer(target, 'retrieveCurrentDeployment')).version;
  } catch (error) {
    if (error instanceof ServerRefused && error.code === 'no_current_version') return undefined;
    throw error;
  }
}
