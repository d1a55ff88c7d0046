import type { Address, Profile, System } from './system.ts';

/** Named numbers of one measurement; null where there is none. */
export type Figures = Readonly<Record<string, number | null>>;

export interface Settings {
  /** Runs; each workload has its own default. */
  readonly n?: number | undefined;
  readonly profile?: Profile | undefined;
  readonly concurrency?: number | undefined;
}

export interface Workload {
  readonly title: string;
  /** Systems measured unless others are named. */
  readonly systems: readonly string[];
  /** Figures whose ratio to each peer is shown; each with whether more or less is better. */
  readonly compared: Readonly<Record<string, 'more' | 'less'>>;
  /** Measures a newly started, empty system once. */
  measure(system: System, address: Address, settings: Settings): Promise<Figures>;
}
