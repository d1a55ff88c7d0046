import type { Member, Runner, Server } from '../network/nodes.ts';
import type { Random } from '../random.ts';
import type { Route } from '../system/database.ts';
import type { System } from '../system/system.ts';

export interface Injecting {
  readonly system: System;
  readonly leader: Member;
  readonly replicas: readonly Member[];
  readonly random: Random;
  /** Chosen by the seed, for faults of one server or one runner. */
  readonly server: Server;
  readonly runner: Runner;
}

/** Ends a fault. */
export type Heal = () => void | Promise<void>;

export interface Scenario {
  /** The fault, for the list of scenarios. */
  readonly title: string;
  /** How servers connect to the database. Default: through HAProxy. */
  readonly route?: Route;
  /** How long the fault lasts, in seconds. */
  readonly lasts: number;
  /** Begins the fault. */
  inject(injecting: Injecting): Promise<Heal>;
  /** The chosen runner is killed, disconnected or stopped: its runs may be taken from it. */
  readonly affectsRunner?: true;
  /** The clock of the database jumps: runs that wait may wait as much longer, and their tokens may time out. */
  readonly movesDatabaseClock?: true;
  /** One of the four failovers, in which no call of a client may fail. */
  readonly isFailover?: true;
  /** Why it cannot run here. */
  unavailable?(): string | undefined;
}
