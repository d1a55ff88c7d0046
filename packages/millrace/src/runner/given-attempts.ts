import type { BriefAssignment, LogLine, Settlement } from '@millrace/contract/runner';
import type { FromExecutor } from '../executor/messages.ts';

/** Attempts that are remembered. Code of an attempt may write lines after its end. */
const maxRemembered = 10_000;

type Subject = Pick<Settlement, 'fence'> & Partial<Pick<Settlement, 'run'>>;
type Line = Pick<LogLine, 'run' | 'attempt'>;

const keyOf = ({ run, attempt }: Line): string => `${run} ${attempt}`;

/** The latest attempts that a process was given: it may send messages about these and no others. */
export class GivenAttempts {
  /** Their runs by fence. */
  readonly #runs = new Map<number, string>();
  readonly #attempts = new Map<string, true>();
  /** No attempt is forgotten yet. */
  #isComplete = true;

  add(assignment: BriefAssignment): void {
    this.#runs.set(assignment.fence, assignment.run);
    this.#attempts.set(keyOf(assignment), true);
    this.#forgetOldest(this.#runs);
    this.#forgetOldest(this.#attempts);
  }

  /**
   * The message without its parts about attempts that are not remembered; undefined if nothing is left. `isForged`: it is about an attempt
   * that the process was never given.
   */
  admit(message: FromExecutor): { readonly admitted: FromExecutor | undefined; readonly isForged: boolean } {
    let isUnknown = false;
    const known = (isKnown: boolean): boolean => {
      isUnknown ||= !isKnown;
      return isKnown;
    };
    const ofAttempt = ({ fence, run }: Subject): boolean => {
      const given = this.#runs.get(fence);
      return known(given !== undefined && (run === undefined || run === given));
    };
    const ofLine = (line: Line): boolean => known(this.#attempts.has(keyOf(line)));
    const admitted = this.#admitted(message, ofAttempt, ofLine);
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

  #forgetOldest(remembered: Map<number | string, unknown>): void {
    if (remembered.size <= maxRemembered) return;
    const [oldest] = remembered.keys();
    if (oldest !== undefined) remembered.delete(oldest);
    this.#isComplete = false;
  }
}
