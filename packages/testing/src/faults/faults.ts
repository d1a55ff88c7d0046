import type { AnyTask } from '@millrace/sdk';
import type { Break, Passing } from './gateway.ts';

export interface CrashOptions {
  /**
   * Whether the result of the step is stored before the process dies. Default false, the worst case: its work is done but not recorded, so
   * the next execution repeats it.
   */
  readonly stored?: boolean;
  /** Which execution of a step with this name ends. Default 1, the next one. */
  readonly time?: number;
}

/** The lost reply: of a trigger, of storing the result of a step, or of requests whose `METHOD /path` matches. */
export type LostReply = 'trigger' | 'step' | RegExp;

/** Faults on demand. Each happens once. A test fails if it ends before a requested fault has happened. */
export interface Faults {
  /**
   * The process that executes runs dies when this step has done its work. The code of all its runs stops, and the engine assigns them to
   * another runner, which executes them from the start, with the stored results of their steps.
   */
  crashAfter(step: string, options?: CrashOptions): void;
  /**
   * Two runners execute the next run of this task at the same time, as if one of them was disconnected but still alive. The engine accepts
   * the second one and rejects the first.
   */
  duplicateDelivery(task: AnyTask | string): void;
  /** The engine handles the request, and the connection breaks before the reply arrives. The SDK then repeats the request. */
  loseReply(of: LostReply): void;
}

interface Armed {
  /** Used in the message about a fault that did not happen. */
  readonly what: string;
  readonly breakOf?: (passing: Passing) => Break | undefined;
  readonly task?: string;
}

const patterns = {
  trigger: /^POST \/api\/(?:v\d\/tasks\/(?:[^/]+\/trigger|trigger-many)|v3\/batches)$/,
  step: /^PUT \/api\/v1\/runs\/[^/]+\/steps$/,
} as const;

/** The requested faults that have not happened. */
export class ArmedFaults implements Faults {
  readonly #armed = new Set<Armed>();
  readonly #steps: string[] = [];
  readonly #crash: () => void;

  constructor(crash: () => void) {
    this.#crash = crash;
  }

  crashAfter(step: string, { stored = false, time = 1 }: CrashOptions = {}): void {
    if (typeof step !== 'string' || step === '')
      throw new TypeError(`crashAfter requires the name of a step, such as crashAfter('charge').`);
    if (!Number.isInteger(time) || time < 1)
      throw new TypeError(`crashAfter: time must be a whole number of at least 1; got ${String(time)}.`);
    let left = time;
    const armed: Armed = {
      what: `crashAfter('${step}')`,
      breakOf: (passing) => {
        if (endedStep(passing) !== step || --left > 0) return undefined;
        this.#armed.delete(armed);
        return { at: stored ? 'reply' : 'request', act: this.#crash };
      },
    };
    this.#armed.add(armed);
  }

  duplicateDelivery(task: AnyTask | string): void {
    const id = typeof task === 'string' ? task : task?.id;
    if (typeof id !== 'string' || id === '')
      throw new TypeError(
        'duplicateDelivery requires a task or its id, such as duplicateDelivery(sendMail).',
      );
    this.#armed.add({ what: `duplicateDelivery('${id}')`, task: id });
  }

  loseReply(of: LostReply): void {
    const pattern = of instanceof RegExp ? of : patterns[of];
    if (!pattern)
      throw new TypeError(
        `loseReply requires 'trigger', 'step' or a RegExp for \`METHOD /path\`; got ${String(of)}.`,
      );
    const armed: Armed = {
      what: `loseReply(${of instanceof RegExp ? String(of) : `'${of}'`})`,
      breakOf: ({ method, path }) => {
        if (!pattern.test(`${method} ${path}`)) return undefined;
        this.#armed.delete(armed);
        return { at: 'reply' };
      },
    };
    this.#armed.add(armed);
  }

  /** The fault for this request, if any. */
  breakOf(passing: Passing): Break | undefined {
    const step = endedStep(passing);
    if (step !== undefined) this.#steps.push(step);
    for (const { breakOf } of this.#armed) {
      const fault = breakOf?.(passing);
      if (fault) return fault;
    }
    return undefined;
  }

  deliversTwice(task: string): boolean {
    const armed = [...this.#armed].find((fault) => fault.task === task);
    return armed !== undefined && this.#armed.delete(armed);
  }

  /** A message about each fault that did not happen. Clears all faults. */
  takeUnused(): string[] {
    const steps = [...new Set(this.#steps)].map((name) => `"${name}"`).join(', ');
    const sentences = [...this.#armed].map(({ what, task }) =>
      what.startsWith('crash')
        ? `${what} did not happen, because no step of this name ended${steps === '' ? '' : `; the steps that ended are ${steps}`}. Check its name.`
        : task === undefined
          ? `${what} did not happen, because no matching request was sent. Check the code of the test after it.`
          : `${what} did not happen, because no run of that task started. Trigger it, and await drain().`,
    );
    this.#armed.clear();
    this.#steps.length = 0;
    return sentences;
  }
}

function endedStep({ method, path, body, fence }: Passing): string | undefined {
  if (fence === undefined || !patterns.step.test(`${method} ${path}`)) return undefined;
  const { name, status, kind } = JSON.parse(body) as { name?: string; status?: string; kind?: string };
  return status === 'COMPLETED' && kind === 'RUN' ? name : undefined;
}
