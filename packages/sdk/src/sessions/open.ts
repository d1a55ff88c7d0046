import { currentClient } from '../client/current-client.ts';
import { currentRun } from '../run-scope.ts';
import { outsideOfRun } from '../wait/misplaced.ts';
import { positionIn, sessionIn, type SessionIn } from './in.ts';
import { sessionOut, type SessionOut } from './out.ts';
import { sessionAddress, type SessionReference } from './session.ts';

/** The two channels of a session. */
export interface SessionHandle {
  /** The reference that was passed in: its id or external id. */
  readonly id: string;
  readonly in: SessionIn;
  readonly out: SessionOut;
  /**
   * Lets a new run serve the session instead of the calling one, which should return soon. Only in a task.
   *
   * @example
   * await session.endAndContinue('upgrade');
   */
  endAndContinue(reason: string): Promise<{ runId: string; swapped: boolean }>;
}

/**
 * The channels of a session, for a task, a backend or a browser. No request is made before they are used.
 *
 * @example
 * const session = sessions.open(payload.sessionId);
 * const { text } = await session.in.wait<{ text: string }>().unwrap();
 * await session.out.append({ text: `You said ${text}` });
 * await session.out.writeControl('turn-complete');
 */
export function open(reference: SessionReference): SessionHandle {
  const client = currentClient();
  const session = sessionAddress(reference);
  const position = positionIn(session);
  return {
    id: session,
    in: sessionIn(client, session, position),
    out: sessionOut(client, session, () => position.last),
    async endAndContinue(reason) {
      const run = currentRun();
      if (!run) throw outsideOfRun('endAndContinue');
      return client.call('continueSession', {
        params: { session },
        body: { callingRunId: run.run, reason },
      });
    },
  };
}
