import {
  type Death,
  type Entry,
  type FromExecutor,
  importOrder,
  type IndexedTask,
  type ProcessEnvironment,
  spawnExecutor,
  type SpawnOptions,
  type TaskDefaults,
} from '@millrace/runner';
import type { Problem } from '@millrace/diagnostics';
import { boundSchemas } from './bound-schemas.ts';
import type { Build } from './build.ts';

/** Maximum duration in milliseconds of importing one file while finding tasks. */
export const importMs = 15_000;

/** The tasks of a build, each id once, and the problems of the rest. */
export interface TaskIndex {
  readonly tasks: readonly IndexedTask[];
  readonly problems: readonly Problem[];
  /** The given defaults, with files that register hooks for all tasks among the preloads. */
  readonly defaults: TaskDefaults;
}

export interface IndexOptions {
  readonly projectDir: string;
  /** The module with the SDK, absolute. Default: the SDK of the project. */
  readonly sdk?: string | undefined;
  readonly env: ProcessEnvironment;
  /** The user that runs the process. */
  readonly ids?: SpawnOptions['ids'];
  readonly defaults: TaskDefaults;
  /** Maximum duration in milliseconds of importing one file. Default 15,000. */
  readonly timeout?: number;
}

/** Imports a build in a separate process and returns the tasks that it declares. */
export async function indexTasks(build: Build, options: IndexOptions): Promise<TaskIndex> {
  const problems: Problem[] = [...build.problems];
  const { defaults } = options;
  const sources = build.entries.map(({ source }) => source);
  let entries = importOrder(build.entries, defaults, sources);
  // If a file ends the process, throws an uncaught exception or never finishes, the search is repeated without it.
  while (entries.length > 0) {
    const result = await attempt(build.dir, entries, options);
    problems.push(...result.problems);
    if ('tasks' in result) {
      const preloads = [...new Set([...(defaults.preloads ?? []), ...result.hookFiles])];
      return {
        ...withoutClashes(result.tasks, each(problems)),
        defaults: { ...defaults, ...(preloads.length > 0 && { preloads }) },
      };
    }
    entries = entries.filter(({ source }) => source !== result.leftOut);
  }
  return { tasks: [], problems: each(problems), defaults };
}

/** Each attempt reports uncaught errors again. */
const each = (problems: readonly Problem[]): Problem[] => [
  ...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values(),
];

type Indexed = Omit<Extract<FromExecutor, { type: 'indexed' }>, 'type'>;
type Attempt = Indexed | { readonly leftOut: string; readonly problems: readonly Problem[] };

async function attempt(
  dir: string,
  entries: readonly Entry[],
  { projectDir, sdk, env, ids, defaults, timeout = importMs }: IndexOptions,
): Promise<Attempt> {
  let importing = entries[0]?.source ?? '';
  let indexed: Indexed | undefined;
  const aside: Problem[] = [];
  let torn: string | undefined;
  let timedOut = false;
  let fault: string | undefined;
  const onTimeout = (): void => {
    timedOut = true;
    link.kill();
  };
  let timer = setTimeout(onTimeout, timeout);
  const onMessage = (message: FromExecutor): void => {
    if (message.type === 'importing') {
      importing = message.source;
      clearTimeout(timer);
      timer = setTimeout(onTimeout, timeout);
    } else if (message.type === 'problem' && torn === undefined) {
      aside.push(message.problem);
      if (!message.torn) return;
      torn = message.source;
      link.kill();
    } else if (message.type === 'indexed' && torn === undefined) {
      indexed = message;
      link.kill();
    }
  };
  const link = spawnExecutor({
    projectDir,
    sdk,
    env: env.inherited,
    ids,
    onMessage,
    onFault: (why) => {
      fault ??= why;
      link.kill();
    },
    onOutput: () => undefined,
  });
  link.send({ type: 'index', token: link.token, env: env.added, dir, entries, defaults });
  const death = await link.died;
  clearTimeout(timer);
  if (indexed)
    return { ...indexed, tasks: boundSchemas(indexed.tasks), problems: [...indexed.problems, ...aside] };
  if (torn !== undefined) return { leftOut: torn, problems: aside };
  const message = timedOut
    ? `importing it did not finish within ${timeout / 1_000} seconds`
    : (fault ?? describeDeath(death));
  const problem = { file: importing, line: null, column: null, message };
  return { leftOut: importing, problems: [...aside, problem] };
}

const describeDeath = ({ code, signal, lastLines }: Death): string =>
  [`importing it ended the process (${signal ?? `exit code ${code}`})`, ...lastLines.slice(-8)].join('\n');

/** Rejects both of two tasks with the same id, because choosing one would be a guess. */
function withoutClashes(
  tasks: readonly IndexedTask[],
  problems: readonly Problem[],
): Pick<TaskIndex, 'tasks' | 'problems'> {
  const byId = new Map<string, IndexedTask[]>();
  for (const task of tasks) byId.set(task.manifest.id, [...(byId.get(task.manifest.id) ?? []), task]);
  const clashes = [...byId.entries()].filter(([, same]) => same.length > 1);
  return {
    tasks: tasks.filter(({ manifest }) => byId.get(manifest.id)?.length === 1),
    problems: [
      ...problems,
      ...clashes.map(([id, same]) => ({
        file: same[0]?.source ?? '',
        line: null,
        column: null,
        message: `the task id "${id}" is declared ${same.length} times, in ${listOf(same)}: give each task its own id`,
      })),
    ],
  };
}

function listOf(tasks: readonly IndexedTask[]): string {
  return tasks
    .map(({ manifest: { filePath, exportName } }) => (exportName ? `${filePath} (${exportName})` : filePath))
    .join(' and ');
}
