import type { ErrorCode } from '@millrace/contract';
import { Problem } from '../problem.ts';

export type AppendRefusal = 'missing' | 'closed' | 'expired' | 'match' | 'fence';

const answers: Readonly<Record<AppendRefusal, readonly [status: number, code: ErrorCode, message: string]>> =
  {
    missing: [404, 'not_found', 'Channel not found'],
    closed: [400, 'session_closed', 'The channel is closed'],
    expired: [400, 'session_expired', 'The channel has expired'],
    match: [412, 'append_conflict', 'The tail of the channel does not match matchSeqNum'],
    fence: [412, 'append_conflict', 'The fencing token does not match the token of the channel'],
  };

/** Nothing was appended, because of the state of the channel. */
export class AppendRefused extends Problem {
  override name = 'AppendRefused';
  readonly reason: AppendRefusal;
  /** The number that the next record would have; 0 if the channel does not exist. */
  readonly tail: number;

  constructor(reason: AppendRefusal, tail: number) {
    const [status, code, message] = answers[reason];
    super(code, message, status === 412 ? { tail } : {}, false, status);
    this.reason = reason;
    this.tail = tail;
  }
}
