import { Problem } from '../problem.ts';

export type AppendRefusal = 'missing' | 'closed' | 'expired' | 'match' | 'fence';

const answers: Readonly<Record<AppendRefusal, readonly [status: number, message: string]>> = {
  missing: [404, 'There is no such channel'],
  closed: [400, 'The channel is closed'],
  expired: [400, 'The channel has expired'],
  match: [412, 'The tail is not at matchSeqNum'],
  fence: [412, 'The fencing token is not that of the channel'],
};

/** Nothing was appended, because of the state of the channel. */
export class AppendRefused extends Problem {
  override name = 'AppendRefused';
  readonly reason: AppendRefusal;
  /** The number that the next record would have; 0 if there is no channel. */
  readonly tail: number;

  constructor(reason: AppendRefusal, tail: number) {
    const [status, message] = answers[reason];
    super(status, message, status === 412 ? { tail } : {}, false);
    this.reason = reason;
    this.tail = tail;
  }
}
