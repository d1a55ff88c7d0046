import { inFull } from '@millrace/contract/compact';
import type {
  Assignment,
  AttemptWaits,
  CompactAssignment,
  LogLine,
  Outcome,
  Settlement,
  SpanChunk,
} from '@millrace/contract/runner';
import { captureConsole } from './capture-console.ts';
import { cut, lengthOf } from './cut.ts';
import { AttemptCredential } from './credential.ts';
import { maxDurationOf, throwing, type Task } from './declared.ts';
import type { FromExecutor, ToExecutor, Waited } from './messages.ts';
import { LineBuffer } from './line-buffer.ts';
import { loadTasks, type LoadedTasks } from './load-tasks.ts';
import { projectFolders } from './project-folders.ts';
import { registerTracing } from './register-tracing.ts';
import { inScope } from './run-scope.ts';
import type { Sdk } from './sdk.ts';
import { SpanBuffer } from './span-buffer.ts';
import { TimeLimit } from './time-limit.ts';
import type { ToRunner } from './to-runner.ts';
import { Waits } from './waits.ts';

/** How long lines wait to be sent together, in milliseconds, unless their attempt ends first. */
const linesWait = 20;
/** Maximum number of characters of lines buffered in this process. */
export const maxLinesSize = 8 * 1024 * 1024;
/** The same limit for spans. */
const maxSpansSize = 4 * 1024 * 1024;
/** Characters of the lines, the spans or the outcomes of one message. */
const partLength = 1024 * 1024;
type AbortReason =
  | { readonly kind: 'canceled' | 'settled' }
  | { readonly kind: 'maxDuration'; readonly seconds: number };

const discard = (): void => undefined;

/** Thrown by the waits of an attempt that must stop. */
const stopped = (): Error =>
  Object.assign(new Error('The run received a stop signal.'), { name: 'AbortError' });

/** Maps the log function of an async context to its attempt, because a run id may occur twice. */
interface OnLog {
  (line: Omit<LogLine, 'run' | 'attempt'>): void;
  fence?: number;
}

interface Live {
  readonly assignment: Assignment;
  readonly task: Task;
  readonly abort: (reason: AbortReason) => void;
  readonly waiting: Waits;
  readonly credential: AttemptCredential;
  /** Set after an uncaught error, which determines the outcome; resolves when it has been reported. */
  blamed: Promise<void> | undefined;
}

/** Runs attempts of one build's tasks concurrently, each in its own async context. */
export class Serving {
  readonly #message: Extract<ToExecutor, { type: 'serve' }>;
  readonly #runner: ToRunner;
  #sdk: Sdk | undefined;
  readonly #loaded: Promise<void>;
  #tasks: LoadedTasks | undefined;
  /**
   * By fence. Not a Map, because one with many insertions and deletions is copied repeatedly, and each old copy keeps the next one and its
   * contents in memory until the next full garbage collection.
   */
  readonly #live: Record<number, Live | undefined> = Object.create(null) as Record<number, Live>;
  /** Requested credentials, by fence. */
  readonly #credentialRequests = new Map<number, AttemptCredential>();

  #settlements: Settlement[] = [];
  readonly #lines = new LineBuffer(maxLinesSize);
  readonly #spans = new SpanBuffer(maxSpansSize);
  #partialLines: ReturnType<typeof captureConsole> | undefined;
  #flushing = false;
  #linesTimer: NodeJS.Timeout | undefined;

  constructor(sdk: Promise<Sdk>, message: Extract<ToExecutor, { type: 'serve' }>, runner: ToRunner) {
    this.#message = message;
    this.#runner = runner;
    this.#loaded = this.#load(sdk);
  }

  async #load(loading: Promise<Sdk>): Promise<void> {
    const sdk = await loading;
    // A version that was deployed earlier contains an older SDK.
    const { projectStack, setProjectFolders }: Partial<Sdk> = sdk;
    this.#partialLines = captureConsole(() => sdk.currentRun(), projectStack);
    registerTracing(sdk);
    setProjectFolders?.(projectFolders(this.#message.dir));
    this.#takeBlame(sdk);
    this.#tasks = await loadTasks(sdk, this.#message);
    this.#sdk = sdk;
    this.#send({ type: 'ready' });
  }

  run(assignments: readonly CompactAssignment[]): void {
    const sdk = this.#sdk;
    if (sdk) for (const assignment of assignments) void this.#attempt(sdk, inFull(assignment));
    else void this.#loaded.then(() => this.run(assignments));
  }

  cancel(fences: readonly number[]): void {
    // Canceled before everything is loaded. They start and are stopped immediately, before any of their code runs.
    if (!this.#sdk) return void this.#loaded.then(() => this.cancel(fences));
    for (const fence of fences) this.#live[fence]?.abort({ kind: 'canceled' });
  }

  waited(attempts: readonly Waited[]): void {
    for (const { fence, state, keys } of attempts) {
      const waiting = this.#live[fence]?.waiting;
      if (state === 'suspended') waiting?.suspended();
      else waiting?.over(keys);
    }
  }

  credential({ fence, text, goodForMs }: Extract<ToExecutor, { type: 'credential' }>): void {
    // After a jump of the server's clock, the runner replaces credentials that were not requested.
    const credential = this.#credentialRequests.get(fence) ?? this.#live[fence]?.credential;
    credential?.answer(text, goodForMs);
    this.#credentialRequests.delete(fence);
  }

  async #attempt(sdk: Sdk, assignment: Assignment): Promise<void> {
    const { run, fence, attempt } = assignment;
    const task = this.#tasks?.tasks.get(assignment.task);
    if (!task) return this.#complete({ run, fence, outcome: this.#withoutTask(sdk, assignment.task) });
    const send: OnLog = (line) => this.#log({ run, attempt, ...line });
    const sealer = sdk.lineSealer?.(run, send);
    const onLog: OnLog = sealer ? (line) => sealer.add(line) : send;
    onLog.fence = fence;
    const controller = new AbortController();
    const { signal } = controller;
    const seconds = assignment.maxDuration ?? maxDurationOf(task);
    const limit =
      seconds === undefined
        ? undefined
        : new TimeLimit(seconds, () => abort({ kind: 'maxDuration', seconds }));
    const waiting = new Waits({
      run,
      fence,
      send: (waits) => this.#sendWaits(waits),
      pause: (paused) => limit?.pause(paused),
    });
    const abort = (reason: AbortReason): void => {
      inScope({ run, attempt, onLog }, () => controller.abort(reason));
      waiting.stop(stopped());
    };
    const credential = new AttemptCredential(() => {
      this.#credentialRequests.set(fence, credential);
      this.#send({ type: 'credential', fence });
    });
    const live: Live = { assignment, task, abort, waiting, credential, blamed: undefined };
    this.#live[fence] = live;
    const onWait = waiting.begin.bind(waiting);
    const served = this.#message.tasks[assignment.task];
    const filePath = served?.filePath ?? served?.source ?? '';
    const { environment } = this.#message;
    const consumed = new Map<string, number>();
    const outcome = await sdk.execute({
      task,
      assignment,
      environment,
      signal,
      onLog,
      onSpan: (spans) => this.#span({ run, attempt, ...spans }),
      onWait,
      credential: () => credential.get(),
      consumed,
      filePath,
    });
    this.#partialLines?.end(onLog);
    if (sealer) await sealer.end();
    limit?.end();
    waiting.forget();
    delete this.#live[fence];
    // In that case, only notify the runner that its code has ended.
    if (live.blamed) await live.blamed;
    this.#complete({
      run,
      fence,
      outcome,
      ...(consumed.size > 0 && { consumed: Object.fromEntries(consumed) }),
    });
  }

  #withoutTask(sdk: Sdk, id: string): Outcome {
    const error = this.#tasks?.importErrors.get(this.#message.tasks[id]?.source ?? '');
    if (error === undefined) return { kind: 'unknownTask' };
    return { kind: 'failed', status: 'FAILED', error: sdk.serializeError(error) };
  }

  #complete(settlement: Settlement): void {
    this.#settlements.push(settlement);
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => this.#flush());
  }

  #sendWaits(waits: AttemptWaits): void {
    // Report its earlier lines before the wait.
    this.#flush();
    this.#send({ type: 'waits', attempts: [waits] });
  }

  #log(line: LogLine): void {
    this.#lines.add(line, this.#runner.backlog);
    this.#linesTimer ??= setTimeout(() => this.#flush(), linesWait);
  }

  #span(spans: SpanChunk): void {
    this.#spans.add(spans, this.#runner.backlog);
    this.#linesTimer ??= setTimeout(() => this.#flush(), linesWait);
  }

  /** In parts, because the runner does not read lines that are too long. The lines of a run precede its outcome. */
  #takeProgress(): FromExecutor[] {
    this.#flushing = false;
    clearTimeout(this.#linesTimer);
    this.#linesTimer = undefined;
    const parts: Extract<FromExecutor, { type: 'progress' }>[] = [];
    while (!this.#lines.isEmpty || !this.#spans.isEmpty) {
      const [lines, spans] = [this.#lines.take(partLength), this.#spans.take(partLength)];
      parts.push({ type: 'progress', settlements: [], lines, ...(spans.length > 0 && { spans }) });
    }
    const settled = cut(this.#settlements, lengthOf, partLength);
    this.#settlements = [];
    const last = parts.pop();
    const [first = [], ...others] = settled;
    if (last || first.length > 0) parts.push({ type: 'progress', lines: [], ...last, settlements: first });
    for (const settlements of others) parts.push({ type: 'progress', settlements, lines: [] });
    return parts;
  }

  #flush(): void {
    for (const part of this.#takeProgress()) this.#send(part);
  }

  #send(message: FromExecutor): void {
    this.#runner.send(message);
  }

  /** Node.js preserves the async context for uncaught exceptions and for calls of process.exit. */
  #takeBlame(sdk: Sdk): void {
    const culprit = (): number | null => {
      const onLog: OnLog | undefined = sdk.currentRun()?.onLog;
      return onLog?.fence ?? null;
    };
    process.on('uncaughtException', (thrown) => this.#blame(sdk, culprit(), thrown, true));
    process.on('unhandledRejection', (thrown) => this.#blame(sdk, culprit(), thrown, false));
    process.on('exit', (code) => {
      const error = new Error(`The task called process.exit(${code})`);
      error.name = 'ProcessExit';
      // The stack starts at the caller.
      // oxlint-disable-next-line typescript/unbound-method -- it is named, not called
      Error.captureStackTrace(error, process.exit);
      this.#partialLines?.endAll();
      const exiting = { type: 'exiting', fence: culprit(), error: sdk.serializeError(error) } as const;
      this.#runner.sendSync([...this.#takeProgress(), exiting]);
    });
  }

  #blame(sdk: Sdk, fence: number | null, thrown: unknown, torn: boolean): void {
    const live = fence === null ? undefined : this.#live[fence];
    // The server must have the attempt's metadata before its end.
    const flushed = sdk.currentRun()?.metadata?.().flush();
    if (live && !live.blamed) live.blamed = this.#completeThrown(sdk, live, thrown, torn, flushed);
    else this.#send({ type: 'uncaught', settlement: null, torn, error: sdk.serializeError(thrown) });
  }

  /** The outcome of an attempt with an uncaught error is the same as if its own code had thrown it. */
  async #completeThrown(
    sdk: Sdk,
    { assignment, task, abort, credential }: Live,
    thrown: unknown,
    torn: boolean,
    flushed: Promise<void> | undefined,
  ): Promise<void> {
    const { run, fence } = assignment;
    const { environment } = this.#message;
    const { signal } = new AbortController();
    const thrower = throwing(task, thrown);
    const outcome = await sdk.execute({
      task: thrower,
      assignment,
      environment,
      signal,
      onLog: discard,
      credential: () => credential.get(),
      aside: true,
    });
    await flushed;
    this.#flush();
    this.#send({
      type: 'uncaught',
      settlement: { run, fence, outcome },
      torn,
      error: sdk.serializeError(thrown),
    });
    abort({ kind: 'settled' });
  }
}
