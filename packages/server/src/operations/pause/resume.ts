import type { MissedTicks } from '@millrace/contract';
import { recordAct, type Actor } from '../../audit/record.ts';
import { ownedInstallation } from '../../auth/installation-owner.ts';
import type { Sql } from '../../db/connect.ts';
import { Problem } from '../../problem.ts';

interface Resumed {
  readonly wasPaused: boolean;
  /** Schedules with overdue ticks. */
  readonly schedules: number;
}

/**
 * Ends the pause for all servers. If schedule ticks are overdue, the caller must choose whether to fire or skip them, because the server cannot
 * know whether they fired before the database was restored. Only for owners of the organization created by the first start.
 */
export async function resumeInstallation(
  sql: Sql,
  by: Actor & { readonly userId: string },
  missed: MissedTicks | undefined,
  now: Date,
): Promise<Resumed> {
  return sql.begin(async (tx) => {
    const organization = await ownedInstallation(tx, by.userId, 'resume it');
    const [row] = await tx<{ paused_at: Date | null }[]>`select paused_at from installation for update`;
    if (!row?.paused_at) return { wasPaused: false, schedules: 0 };
    const [due] = await tx<{ count: number }[]>`
      select count(*)::int as count from schedules where next_at <= ${now}`;
    const schedules = due?.count ?? 0;
    if (schedules > 0 && missed === undefined) {
      throw new Problem(
        'missed_ticks',
        `Ticks of ${schedules} schedule${schedules === 1 ? '' : 's'} have fallen due. Choose how to handle them: set \`missedTicks\` to "skip" (--skip-missed) after a restore, because they fired before it, or to "fire" (--fire-missed) to apply the rule of each schedule.`,
        { code: 'missed_ticks', schedules },
      );
    }
    // One statement does both, so that no tick to be skipped can fire in between.
    await tx`
      update installation set paused_at = null,
        skip_ticks_until = case when ${missed === 'skip'} then ${now}::timestamptz else skip_ticks_until end`;
    await recordAct(tx, by, {
      act: 'installation.resumed',
      target: 'installation',
      in: { organization },
      old: { pausedAt: row.paused_at.toISOString() },
      new: { missedTicks: missed ?? null, schedules },
    });
    return { wasPaused: true, schedules };
  });
}
