import type { OperationsOf } from '@millrace/contract';
import { isUser } from '../../auth/principal.ts';
import type { Clock } from '../../db/clock.ts';
import type { Sql } from '../../db/connect.ts';
import type { HandlersOf } from '../../request.ts';
import type { Pause } from './pause.ts';
import { resumeInstallation } from './resume.ts';

export const pauseHandlers = ({
  sql,
  clock,
  pause,
}: {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly pause: Pause;
}): HandlersOf<OperationsOf<'installation'>> => ({
  async resumeInstallation({ principal, origin, body }) {
    if (!isUser(principal)) throw new TypeError('Only a user can call this operation.');
    const by = { principal, origin, userId: principal.userId };
    const resumed = await resumeInstallation(sql, by, body?.missedTicks, new Date(clock.now()));
    await pause.refresh();
    return resumed;
  },
});
