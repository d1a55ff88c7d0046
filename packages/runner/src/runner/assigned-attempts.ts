import type { CompactAssignment, LogLine, Settlement } from '@millrace/contract/runner';
import type { FromExecutor } from '../executor/messages.ts';

/** Number of ended attempts to remember. Code of an attempt may write lines after its end. */
const maxRemembered = 10_000;

type Subject = Pick<Settlement, 'fence'> & Partial<Pick<Settlement, 'run'>>;
type Line = Pick<LogLine, 'run' | 'attempt'>;

const keyOf = ({ run, attempt }: Line): string => `${run} ${attempt}`;

/**
 * The attempts assigned to a process, which may send messages only about these. Unfinished ones are never forgotten, regardless of their
 * number.
 */
export class AssignedAttempts {
  readonly #assigned = new Map<number, Line>();
  readonly #attempts = new Set<string>();
  /** Fences of ended attempts; the next one replaces the oldest. */
  readonly #ended: number[] = [];
  #next = 0;
  /** No attempt has been forgotten yet. */
  #isComplete = true;

  add(assignment: CompactAssignment): void {
    const { run, attempt } = assignment;
    this.#assigned.set(assignment.fence, { run, attempt });
    this.#attempts.add(keyOf(assignment));
  }

  /**
   * The message without its parts about forgotten attempts; undefined if nothing is left. `isForged`: the message is about an attempt that
   * was never assigned to the process.
   */
  admit(message: FromExecutor): { readonly admitted: FromExecutor | undefined; readonly isForged: boolean } {
    let isUnknown = false;
    const known = (isKnown: boolean): boolean => {
      isUnknown ||= !isKnown;
      return isKnown;
    };
    const ofAttempt = ({ fence, run }: Subject): boolean => {
      const assigned = this.#assigned.get(fence);
      return known(assigned !== undefined && (run === undefined || run === assigned.run));
    };
    const ofLine = (line: Line): boolean => known(this.#attempts.has(keyOf(line)));
    const admitted = this.#admitted(message, ofAttempt, ofLine);
    if (admitted?.type === 'progress') for (const { fence } of admitted.settlements) this.#end(fence);
    if (admitted?.type === 'uncaught' && admitted.settlement) this.#end(admitted.settlement.fence);
    return { admitted, isForged: isUnknown && this.#isComplete };
  }

  #admitted(
    message: FromExecutor,
    ofAttempt: (subject: Subject) => boolean,
    ofLine: (line: Line) => boolean,
  ): FromExecutor | undefined {
    if (message.type === 'progress') {
      const { settlements, lines, spans } = message;
      return {
        type: 'progress',
        settlements: settlements.filter(ofAttempt),
        lines: lines.filter(ofLine),
        ...(spans && { spans: spans.filter(ofLine) }),
      };
    }
    if (message.type === 'waits') return { ...message, attempts: message.attempts.filter(ofAttempt) };
    const subject = message.type === 'uncaught' ? message.settlement : 'fence' in message ? message : null;
    return subject === null || subject.fence === null || ofAttempt({ ...subject, fence: subject.fence })
      ? message
      : undefined;
  }

  #end(fence: number): void {
    const oldest = this.#ended[this.#next];
    this.#ended[this.#next] = fence;
    this.#next = (this.#next + 1) % maxRemembered;
    if (oldest === undefined) return;
    const assigned = this.#assigned.get(oldest);
    if (assigned) this.#attempts.delete(keyOf(assigned));
    this.#assigned.delete(oldest);
    this.#isComplete = false;
  }
}
