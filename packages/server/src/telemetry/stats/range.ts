import { Problem } from '../../problem.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The widths of roll-ups, and how long each is retained. */
export const tiers = [
  { widthMinutes: 1, name: 'below an hour', retentionMs: 2 * dayMs },
  { widthMinutes: 5, name: 'below an hour', retentionMs: 2 * dayMs },
  { widthMinutes: 60, name: 'below a day', retentionMs: 90 * dayMs },
  { widthMinutes: 360, name: 'below a day', retentionMs: 90 * dayMs },
  { widthMinutes: 1_440, name: 'of days', retentionMs: 730 * dayMs },
] as const;
type Tier = (typeof tiers)[number];

/** The only width, in minutes, in which the runs of a task on a version are counted. */
export const versionTaskWidth = 360;

/** Steps that can be chosen automatically, in minutes. */
const steps = [1, 5, 15, 30, 60, 180, 360, 720, 1_440, 10_080] as const;
const preferredPoints = 200;
/** Maximum points of all series of a response together. */
export const maxPoints = 1_000;
/** Maximum roll-ups that one request reads. */
export const maxRows = 1_500;

export interface StatsRange {
  readonly from: Date;
  readonly to: Date;
  readonly stepMs: number;
  readonly widthMinutes: Tier['widthMinutes'];
}

export interface RequestedStatsRange {
  /** Milliseconds up to now; takes precedence over the other two. */
  readonly period?: number | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** The step in milliseconds. */
  readonly step?: number | undefined;
}

const refused = (sentence: string): Problem => new Problem('invalid_request', sentence);

/**
 * The time range that a request reads. It begins and ends with a step, so its last step may be incomplete. Throws a 400 with the required
 * change if there would be too many points, or if such fine roll-ups are not retained that long.
 */
export function readStatsRange(requested: RequestedStatsRange, now: number, seriesCount = 1): StatsRange {
  const end = Math.min(requested.period === undefined ? (requested.to?.getTime() ?? now) : now, now);
  const begin =
    requested.period === undefined ? (requested.from?.getTime() ?? end - dayMs) : now - requested.period;
  if (begin >= end) throw refused('from: must be before `to`, and in the past.');
  const oldest = tiers.at(-1)?.retentionMs ?? 0;
  if (now - begin > oldest + dayMs)
    throw refused('The range is too wide: roll-ups are retained for 730 days. Use a later `from`.');

  const choose = (stepMs: number) => {
    const from = Math.floor(begin / stepMs) * stepMs;
    const to = Math.ceil(end / stepMs) * stepMs;
    const tier = tiers.findLast(({ widthMinutes }) => stepMs % (widthMinutes * minuteMs) === 0) ?? tiers[0];
    const rows = ((to - from) / minuteMs / tier.widthMinutes) * seriesCount;
    return {
      from: new Date(from),
      to: new Date(to),
      stepMs,
      tier,
      points: ((to - from) / stepMs) * seriesCount,
      rows,
      isRetained: now - from <= tier.retentionMs + stepMs,
    };
  };

  type Choice = ReturnType<typeof choose>;
  const fits = ({ points, rows, isRetained }: Choice): boolean =>
    isRetained && points <= maxPoints && rows <= maxRows;
  const tooManySeries = (): Problem =>
    refused(`The range is too wide for ${seriesCount} series: use a smaller \`limit\` or a shorter range.`);

  if (requested.step === undefined) {
    const options = steps.map((minutes) => choose(minutes * minuteMs)).filter(fits);
    const chosen = options.find(({ points }) => points <= preferredPoints * seriesCount) ?? options.at(-1);
    if (!chosen) throw tooManySeries();
    return rangeOf(chosen);
  }
  if (!(requested.step > 0) || requested.step % minuteMs !== 0)
    throw refused('step: must be whole minutes, such as 1m, 15m, 1h or 1d.');
  const chosen = choose(requested.step);
  if (!steps.some((minutes) => fits(choose(minutes * minuteMs)))) throw tooManySeries();
  const suggestion = steps.map((minutes) => minutes * minuteMs).find((ms) => fits(choose(ms))) ?? 7 * dayMs;
  const instead = `Use step=${stepText(suggestion)} or a shorter range.`;
  if (!chosen.isRetained)
    throw refused(
      `step: steps ${chosen.tier.name} can be read for ${chosen.tier.retentionMs / dayMs} days. ${instead}`,
    );
  if (chosen.points > maxPoints)
    throw refused(
      `step: the range has ${chosen.points} points in ${seriesCount} series, and at most ${maxPoints} are allowed. ${instead}`,
    );
  if (chosen.rows > maxRows)
    throw refused(`step: too fine for this range and ${seriesCount} series. ${instead}`);
  return rangeOf(chosen);
}

const rangeOf = ({
  from,
  to,
  stepMs,
  tier,
}: {
  from: Date;
  to: Date;
  stepMs: number;
  tier: Tier;
}): StatsRange => ({
  from,
  to,
  stepMs,
  widthMinutes: tier.widthMinutes,
});

/** A text such as `15m`. */
function stepText(ms: number): string {
  if (ms % dayMs === 0) return `${ms / dayMs}d`;
  return ms % hourMs === 0 ? `${ms / hourMs}h` : `${ms / minuteMs}m`;
}
