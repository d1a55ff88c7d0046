/** The conditions that an alert can monitor. */
export const alertKinds = [
  'error.new',
  'error.regressed',
  'task.failureRate',
  'queue.age',
  'schedule.missed',
  'runner.none',
] as const;
export type AlertKind = (typeof alertKinds)[number];

interface AlertRule {
  /** The unit of `threshold`. */
  readonly unit: string;
  readonly threshold: { readonly min: number; readonly max: number; readonly default: number };
  /** Seconds. */
  readonly window: { readonly min: number; readonly max: number; readonly default: number };
  /** The kind of object to which an alert can be limited. */
  readonly of?: 'task' | 'queue';
}

const hour = 3_600;

/**
 * The unit and limits of each kind of alert. A window is the period in which events are counted, or for which a condition must hold
 * (`queue.age`, `runner.none`).
 */
export const alertRules: Readonly<Record<AlertKind, AlertRule>> = {
  'error.new': {
    unit: 'error groups',
    threshold: { min: 1, max: 10_000, default: 1 },
    window: { min: 60, max: 24 * hour, default: 300 },
    of: 'task',
  },
  'error.regressed': {
    unit: 'error groups',
    threshold: { min: 1, max: 10_000, default: 1 },
    window: { min: 60, max: 24 * hour, default: 300 },
    of: 'task',
  },
  'task.failureRate': {
    unit: 'percent of the runs that ended',
    threshold: { min: 0.1, max: 100, default: 10 },
    window: { min: 60, max: hour, default: 300 },
    of: 'task',
  },
  'queue.age': {
    unit: 'seconds that the oldest run has waited',
    threshold: { min: 1, max: 30 * 24 * hour, default: 300 },
    window: { min: 0, max: 24 * hour, default: 60 },
    of: 'queue',
  },
  'schedule.missed': {
    unit: 'missed ticks',
    threshold: { min: 1, max: 10_000, default: 1 },
    window: { min: 60, max: 24 * hour, default: 300 },
    of: 'task',
  },
  'runner.none': {
    unit: 'seconds that runs have waited',
    threshold: { min: 1, max: 30 * 24 * hour, default: 60 },
    window: { min: 0, max: 24 * hour, default: 60 },
  },
};

/** Seconds. */
export const alertQuiet = { min: 60, max: 7 * 24 * hour, default: 1_800 };
