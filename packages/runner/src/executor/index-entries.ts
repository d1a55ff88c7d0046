import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { importedFile, locate, type Problem } from '@millrace/diagnostics';
import { runOf } from './declared.ts';
import type { FromExecutor, IndexedTask, ToExecutor } from './messages.ts';
import { useCodecOf } from './project-codec.ts';
import { loadPublished, type Imported, type Published } from './published-tasks.ts';
import { notExported, type Declared } from './unexported-tasks.ts';
import type { Sdk } from './sdk.ts';

/** Stack frames: enough to include the line of the task file behind the frames of packages. */
const stackFrames = 50;
/** Turns of the event loop after the last import, for floating promises. */
const lastTurns = 5;

/** Imports the task files one by one and reports their tasks. A file that throws, synchronously or later, does not stop the others. */
export async function indexEntries(
  sdk: Sdk,
  projectDir: string,
  { dir, entries, defaults }: Extract<ToExecutor, { type: 'index' }>,
  send: (message: FromExecutor) => void,
): Promise<void> {
  const tasks: IndexedTask[] = [];
  const problems: Problem[] = [];
  /** A task that a second file re-exports is the same task, not a conflict. */
  const seen = new Set<unknown>();
  const collected = sdk.collectDeclaredTasks();
  const published = await loadPublished(defaults.published);
  const imported: Imported[] = [];
  const declared: Declared[] = [];
  const exportedRuns = new Set<unknown>();
  const hookFiles: string[] = [];
  let hooks = registeredHooks(sdk, published);
  /** The task file whose import started the current code. */
  const sources = new AsyncLocalStorage<string>();
  let importing = entries[0]?.source ?? '';
  const sendProblem = (thrown: unknown, torn: boolean): void => {
    const source = sources.getStore() ?? importing;
    send({ type: 'problem', source, torn, problem: locate(thrown, projectDir, source) });
  };
  process.on('uncaughtException', (thrown) => sendProblem(thrown, true));
  process.on('unhandledRejection', (thrown) => sendProblem(thrown, false));
  Error.stackTraceLimit = stackFrames;
  for (const { source, module } of entries) {
    send({ type: 'importing', source });
    importing = source;
    const before = collected.length;
    try {
      const { href } = pathToFileURL(join(dir, module));
      const namespace: unknown = await sources.run(source, () => import(href));
      if (source === defaults.codec) useCodecOf(sdk, namespace as object);
      for (const { task, exportName } of sdk.findTasks(namespace as Record<string, unknown>)) {
        if (seen.has(task)) continue;
        seen.add(task);
        exportedRuns.add(runOf(task));
        const declaredAt = collected.find(({ definition }) => definition.run === runOf(task))?.at;
        const filePath = declaredAt ? importedFile(declaredAt, projectDir, source) : source;
        const manifest = sdk.manifestOf(task, filePath, exportName);
        const { retry = defaults.retry, maxDuration = defaults.maxDuration } = manifest;
        tasks.push({ source, manifest: { ...manifest, retry, maxDuration } });
      }
      if (published) imported.push({ source, namespace: namespace as object, ...published.take() });
      // A file that throws exports nothing, and its error has already been reported.
      for (const task of collected.slice(before)) declared.push({ task, source });
      const hooksNow = registeredHooks(sdk, published);
      if (hooksNow.some((hook) => !hooks.includes(hook))) hookFiles.push(source);
      hooks = hooksNow;
    } catch (error) {
      // Tasks that the file registered before it threw are not served.
      published?.take();
      problems.push(locate(error, projectDir, source));
    }
  }
  for (let turn = 0; turn < lastTurns; turn += 1) await setImmediate();
  if (published) {
    const found = published.index(sdk, imported, projectDir);
    // The published SDK reads outputs directly, and would treat a sealed value as the output.
    if (defaults.codec === undefined) tasks.push(...found.tasks);
    else problems.push(...found.tasks.map(({ source, manifest }) => sealedTheirs(source, manifest.id)));
    problems.push(...found.problems);
  }
  problems.push(...notExported(declared, exportedRuns, projectDir));
  send({ type: 'indexed', tasks, problems, hookFiles });
}

/** The functions currently registered as hooks or middleware for all tasks. */
const registeredHooks = (sdk: Sdk, published: Published | undefined): readonly unknown[] => [
  // Older SDKs do not list their hooks.
  ...((sdk as Partial<Sdk>).registeredHooks?.() ?? []),
  ...(published?.globalHooks() ?? []),
];

const sealedTheirs = (source: string, id: string): Problem => ({
  file: source,
  line: null,
  column: null,
  message: `the task "${id}" is written for the published SDK, which has no codecs: remove "codec" from the configuration, or move the task to @millrace/sdk`,
});
