import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { EnvironmentKind } from '@millrace/contract/plain';
import type { Schedule } from '@millrace/sdk';
import {
  applySchedules,
  applyVariables,
  credentialText,
  type Failures,
  type From,
  planSchedules,
  planVariables,
  readKey,
  readPublished,
  readRuns,
  readSchedules,
  readVariables,
  saveRuns,
  type ScheduleStep,
  type Step,
  type VariableStep,
} from '@millrace/compat';
import { findServer, openClient } from '../connection.ts';
import { evaluateConfig } from '../../project/evaluate-config.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { environmentOfKey } from '../key-environment.ts';
import { progressLine } from '../progress-line.ts';
import { screenOn } from '../screen.ts';
import { waitsFor, waitsForServer } from '../waiting.ts';
import type { ImportTriggerOptions } from './import-options.ts';
import { printImport } from './import-screen.ts';

/** Reads another installation, compares it with this environment, and with `--apply` writes the differences. */
export async function importTrigger(options: ImportTriggerOptions): Promise<void> {
  const target = await findServer(options);
  const from = await fromOf(options, environmentOfKey(target.key));
  refuseSame(from, target.url);
  if (options.runs !== undefined && existsSync(options.runs))
    throw new CommandFailed(exitCodes.usage, `${options.runs} already exists. Choose another name.`);

  waitsForServer(from.source.url);
  const key = await readKey(from);
  const found = {
    variables: options.only === 'schedules' ? [] : await readVariables(from, key),
    schedules: options.only === 'variables' ? [] : await readSchedules(from, keyForSchedules(key)),
  };
  const sdk = await openClient(options);
  const override = options.override ?? false;
  const variables = planVariables(found.variables, await variablesHere(sdk, options), override);
  const schedules = planSchedules(found.schedules, await schedulesHere(sdk, options), override);
  waitsFor();

  const failures: Failures = new Map();
  const runs = options.apply
    ? await apply(sdk, { variables, schedules, failures }, { from, key, options })
    : undefined;
  const steps: Step[] = [...variables, ...schedules];
  printImport({ from, target: target.url, steps, failures, runs, options });
  if (options.apply && (failures.size > 0 || steps.some(({ action }) => isPending(action))))
    process.exitCode = exitCodes.failed;
}

/** It could not be imported, and requires a manual step. */
const isPending = (action: Step['action']): boolean =>
  action === 'waits-for-task' || action === 'not-readable' || action === 'by-hand';

async function fromOf(options: ImportTriggerOptions, env: EnvironmentKind): Promise<From> {
  const { from: url, fromToken: token, fromKey: key, branch } = options;
  if (token === undefined && key === undefined)
    throw new CommandFailed(
      exitCodes.usage,
      `No credential for ${url}. Set MILLRACE_IMPORT_TOKEN to a personal access token, or MILLRACE_IMPORT_KEY to the secret key of the environment.`,
    );
  for (const credential of [token, key])
    if (credential !== undefined && !credentialText.test(credential))
      throw new CommandFailed(
        exitCodes.usage,
        `The credential for ${url} contains a space, a line end or another invalid character: copy it again.`,
      );
  const projectRef =
    options.fromProject ?? (await readPublished(resolve(options.dir), evaluateConfig))?.config.project;
  if (projectRef === undefined)
    throw new CommandFailed(
      exitCodes.usage,
      'No source project. Pass --from-project proj_…, or run the command in the folder of its trigger.config.ts.',
    );
  const fromEnv = options.fromEnv ?? env;
  // Requests with a key apply to its environment, regardless of the environment that they name.
  if (key !== undefined && environmentOfKey(key) !== fromEnv)
    throw new CommandFailed(
      exitCodes.usage,
      `--from-key belongs to ${environmentOfKey(key)}, but the import reads ${fromEnv}. Pass the key of ${fromEnv}, or --from-env.`,
    );
  const { line, paint } = screenOn(process.stderr);
  return {
    projectRef,
    env: fromEnv,
    source: {
      url,
      ...(branch !== undefined && { branch }),
      onWait: (sentence) => line(paint.dim(sentence)),
    },
    ...(token !== undefined && { token }),
    ...(key !== undefined && { key }),
  };
}

/** After a migration, the project's environment contains the address of this server. */
function refuseSame({ source }: From, url: string): void {
  if (new URL(source.url).href !== new URL(url).href) return;
  throw new CommandFailed(
    exitCodes.usage,
    `${url} cannot be imported into itself: --from is the source installation, --url the target.`,
  );
}

function keyForSchedules(key: string | undefined): string {
  if (key !== undefined) return key;
  throw new CommandFailed(
    exitCodes.cannotReach,
    'Schedules are read with the secret key of the environment, which this token cannot read. Set MILLRACE_IMPORT_KEY to that key, or import only variables with --only variables.',
  );
}

type Client = Awaited<ReturnType<typeof openClient>>;

async function variablesHere({ envvars }: Client, { only }: ImportTriggerOptions) {
  if (only === 'schedules') return { values: {}, secrets: new Set<string>() };
  const listed = await envvars.list();
  const secrets = new Set(listed.filter(({ isSecret }) => isSecret).map(({ name }) => name));
  return { values: await envvars.readAll(), secrets };
}

async function schedulesHere({ schedules, tasks }: Client, { only }: ImportTriggerOptions) {
  if (only === 'variables') return { schedules: [], tasks: new Set<string>() };
  const ids = new Set((await tasks.list()).map(({ id }) => id));
  const found: Schedule[] = [];
  for await (const schedule of schedules.list({ perPage: 100 })) found.push(schedule);
  return { schedules: found, tasks: ids };
}

interface Planned {
  readonly variables: readonly VariableStep[];
  readonly schedules: readonly ScheduleStep[];
  readonly failures: Failures;
}

interface Applying {
  readonly from: From;
  readonly key: string | undefined;
  readonly options: ImportTriggerOptions;
}

/** Returns the number of saved runs, if requested. */
async function apply(
  sdk: Client,
  { variables, schedules, failures }: Planned,
  { from, key, options }: Applying,
): Promise<number | undefined> {
  const progress = progressLine();
  // First, so that a file that cannot be written leaves no partial import.
  const runs =
    options.runs === undefined
      ? undefined
      : await saveRuns(options.runs, readRuns(from, key, options.period), (saved) =>
          progress(`${saved} runs`),
        );
  await applyVariables(sdk, variables, failures);
  let done = 0;
  await applySchedules(sdk, schedules, {
    inactive: options.inactive ?? false,
    failures,
    onDone: () => progress(`${++done} schedules`),
  });
  return runs;
}
