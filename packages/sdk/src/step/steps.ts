import type { SerializedError } from '@millrace/contract/runner';
import type { maxSteps as contractLimit, StepKind, StoredStep } from '@millrace/contract';
import { ApiClient } from '../client/api-client.ts';
import { insist } from '../client/insist.ts';
import { readContent } from '../packets/content.ts';
import type { Encoded } from '../payload/encode.ts';
import { currentRun, type RunScope, type RunSteps } from '../run-scope.ts';
import { processCodec } from '../sealing/codec.ts';
import { openError, sealError } from '../sealing/errors.ts';
import { decodeOpened, sealText } from '../sealing/values.ts';
import { insideOfStep, outsideOfRun } from '../wait/misplaced.ts';
import { isAwaitedAlone } from './awaited-alone.ts';
import { checkName, indexed } from './name.ts';
import { StepError, StepMismatchError } from './step-error.ts';

const maxSteps: typeof contractLimit = 10_000;

/** The function that calls each kind of step, for messages. */
const callOf: Readonly<Record<StepKind, string>> = {
  RUN: 'step.run',
  SLEEP: 'step.sleep',
  EVENT: 'step.waitForEvent',
  TRIGGER: 'step.trigger',
  TRIGGER_AND_WAIT: 'step.triggerAndWait',
};

/** The data about an ended step that is sent to the server. */
export interface EndedStep {
  readonly kind: StepKind;
  readonly status: StoredStep['status'];
  readonly tries: number;
  readonly tookMs: number;
  readonly detail?: string | undefined;
  readonly sleepMs?: number | undefined;
  readonly output?: string | undefined;
  readonly outputType?: string | undefined;
  readonly error?: object | undefined;
}

/** The kind and subject of a step. */
export interface StepCall {
  readonly kind: StepKind;
  readonly name: string;
  /** The task or event that it refers to. */
  readonly subject?: string | undefined;
  /** Whether it is known to be new, so that it cannot be a stored step under another name. */
  readonly isNew?: boolean | undefined;
}

/** The steps of an attempt. */
export class Steps implements RunSteps {
  readonly scope: RunScope;
  readonly #client = new ApiClient();
  readonly #stored = new Map<string, StoredStep>();
  #loading: Promise<void> | undefined;
  #seq = 0;
  readonly #counts = new Map<string, number>();
  /** Names of steps that have started and not ended. */
  readonly #open = new Set<string>();
  readonly #called = new Set<string>();
  readonly #executed: string[] = [];
  /** Executed steps that the code awaited alone. */
  readonly #sequential = new Set<string>();

  constructor(scope: RunScope) {
    this.scope = scope;
  }

  /**
   * Executes a step unless it is already stored. `act` receives the indexed name and the stored data of an earlier failure. The name is
   * registered by this call, before anything is awaited.
   */
  async enter<T>(
    { kind, name, subject, isNew }: StepCall,
    reuse: (stored: StoredStep) => T | Promise<T>,
    act: (key: string, failed: StoredStep | undefined) => Promise<T>,
  ): Promise<T> {
    const what = callOf[kind];
    checkName(what, name);
    if (this.#open.has(name)) {
      throw new StepMismatchError(
        `Two steps named "${name}" must not be open at the same time: when the code executes again, each could get the result of the other. ` +
          `Give each a unique name, such as \`${name}-\${item.id}\`.`,
      );
    }
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    const key = indexed(name, count);
    this.#called.add(key);
    this.#open.add(name);
    try {
      await (this.#loading ??= this.#load());
      const stored = this.#stored.get(key);
      if (stored) refuseOther(stored, kind, subject);
      if (stored?.status === 'COMPLETED' || stored?.attempt === this.scope.attempt)
        return await reuse(stored);
      const isSequential = await this.#isSequential();
      if (isSequential) this.#sequential.add(key);
      if (!stored && isNew !== true && isSequential) this.#refuseRenamed(key, kind, subject);
      // The attempt received a stop signal in the meantime.
      refuseStopped(this.scope, what);
      if (this.#seq >= maxSteps) {
        const cause = new RangeError(
          `A run has at most ${maxSteps} steps. Combine several into one step, or move some to other runs.`,
        );
        throw new StepError(key, cause, true);
      }
      if (!stored) this.#executed.push(key);
      return await act(key, stored);
    } finally {
      this.#open.delete(name);
    }
  }

  /** Stores the result of a step. Resolves when the server has it. */
  async store(
    key: string,
    ended: EndedStep,
  ): Promise<{ readonly at: number; readonly detail?: string | undefined }> {
    const { run, fence, signal } = this.scope;
    const isSequential = this.#sequential.has(key) || undefined;
    const body = { fence, name: key, seq: ++this.#seq, ...ended, isSequential };
    const send = () => this.#client.call('storeRunStep', { params: { runId: run }, body });
    return insist(send, signal);
  }

  /** The result of a step, sealed if there is a codec. A replay reuses it, so it is not bound to this run. */
  async seal(
    key: string,
    { text, type }: Encoded,
  ): Promise<{ readonly text: string | undefined; readonly type: string }> {
    const codec = processCodec();
    return codec && text !== undefined
      ? sealText(codec, { text, type }, this.#purposeOf(key))
      : { text, type };
  }

  /** The error of a failed step, sealed if there is a codec. */
  sealError(key: string, error: SerializedError): Promise<SerializedError> {
    return sealError(processCodec(), error, this.#purposeOf(key));
  }

  /** The error of a stored step that failed. */
  openError(
    name: string,
    error: object,
    purpose = this.#purposeOf(name),
  ): Promise<Readonly<Record<string, unknown>>> {
    return openError(processCodec(), error, purpose) as Promise<Readonly<Record<string, unknown>>>;
  }

  #purposeOf(key: string): string {
    return `step ${this.scope.task ?? ''}/${key}`;
  }

  /**
   * The result of a stored step.
   * @param purpose the purpose for which it was sealed, if it is not the result of this step
   */
  async resultOf(
    { name, output, outputType, outputPresignedUrl }: StoredStep,
    purpose = this.#purposeOf(name),
  ): Promise<unknown> {
    if (outputPresignedUrl === undefined)
      return decodeOpened(processCodec, output ?? null, outputType ?? 'application/json', purpose);
    const { run, fence, signal } = this.scope;
    // The URL that came with the list may have expired.
    const read = async () => {
      const { data } = await this.#client.call('loadRunSteps', {
        params: { runId: run },
        query: { fence, name },
      });
      return readContent(this.#client.settings, data[0]?.outputPresignedUrl ?? outputPresignedUrl);
    };
    const { text, type } = await insist(read, signal);
    return decodeOpened(processCodec, text, type, purpose);
  }

  /** Warnings to report when the code of the attempt has ended. */
  end(isCompleted: boolean): string[] {
    const warnings: string[] = [];
    for (const name of this.#open) {
      warnings.push(
        `The task ended while its step "${name}" was open: await each step. The attempt ends when the step has.`,
      );
    }
    if (!isCompleted) return warnings;
    const vanished = [...this.#stored.values()]
      .filter(({ name, status }) => status === 'COMPLETED' && !this.#called.has(name))
      .map(({ name }) => name);
    if (vanished.length > 0) {
      const executed = this.#executed.length > 0 ? ` It executed ${listOf(this.#executed)} instead.` : '';
      warnings.push(
        `An earlier execution of this run stored ${listOf(vanished)}, which this one did not call.${executed} ` +
          'If a step was renamed, its work was done twice.',
      );
    }
    return warnings;
  }

  async #load(): Promise<void> {
    const { run, fence, signal } = this.scope;
    let after: string | undefined;
    do {
      const query = { fence, 'page[after]': after };
      const load = () => this.#client.call('loadRunSteps', { params: { runId: run }, query });
      const { data, pagination } = await insist(load, signal);
      for (const step of data) {
        this.#stored.set(step.name, step);
        this.#seq = Math.max(this.#seq, step.seq);
      }
      after = pagination.next;
    } while (after !== undefined);
  }

  /** Whether the code awaits the calling step and nothing else. */
  async #isSequential(): Promise<boolean> {
    // By the next turn of the event loop, the code has begun to await the step.
    await new Promise((resolve) => setImmediate(resolve));
    return this.#open.size === 1 && isAwaitedAlone();
  }

  /**
   * Throws if an unknown step may be a stored one under another name, whose work would be repeated. That is the case if the code awaits
   * only the unknown step, and another version awaited only a stored step that has not been called yet. Other stored steps belong to
   * branches that may still call them at any time.
   */
  #refuseRenamed(key: string, kind: StepKind, subject: string | undefined): void {
    const expected = [...this.#stored.values()].find(
      (step) =>
        step.isOtherVersion &&
        step.isSequential &&
        step.status === 'COMPLETED' &&
        !this.#called.has(step.name) &&
        // The step is identical except for its name.
        step.kind === kind &&
        isAbout(step, subject),
    );
    if (!expected) return;
    throw new StepMismatchError(
      `The code calls the step "${key}", of which no result is stored, before "${expected.name}", which another version of the code stored. ` +
        `If "${key}" is "${expected.name}" under another name, give it its old name. If it is new, call it after "${expected.name}", ` +
        'or mark it with { isNew: true }.',
    );
  }
}

const listOf = (names: readonly string[]): string => {
  const listed = names.slice(0, 10).map((name) => `"${name}"`);
  return `${listed.length === 1 ? 'the step' : 'the steps'} ${listed.join(', ')}${names.length > listed.length ? ' and others' : ''}`;
};

function refuseOther(
  { name, kind, detail }: StoredStep,
  called: StepKind,
  subject: string | undefined,
): void {
  if (kind !== called) {
    throw new StepMismatchError(
      `The step "${name}" was stored by ${callOf[kind]}, and is now called by ${callOf[called]}: rename one of the two.`,
    );
  }
  if (!isAbout({ detail }, subject)) {
    throw new StepMismatchError(
      `The step "${name}" was stored for "${detail}", and is now called for "${subject}": rename one of the two.`,
    );
  }
}

/** The detail of a trigger consists of the task and the run. */
const isAbout = ({ detail }: Pick<StoredStep, 'detail'>, subject: string | undefined): boolean =>
  subject === undefined || detail === undefined || `${detail} `.startsWith(`${subject} `);

function refuseStopped({ signal }: RunScope, what: string): void {
  if (signal?.aborted === true) throw new Error(`${what} cannot start in a run that is stopping.`);
}

/** The steps of the attempt to which the calling code belongs. Throws where steps are not possible. */
export function ownSteps(what: string): Steps {
  const scope = currentRun();
  if (!scope) throw outsideOfRun(what);
  if (scope.step !== undefined) throw insideOfStep(what, scope.step);
  refuseStopped(scope, what);
  if (scope.fence === undefined || !scope.credential)
    throw new Error(`${what} does not work here: the code runs without a runner that could store steps.`);
  return (scope.steps ??= new Steps(scope)) as Steps;
}
