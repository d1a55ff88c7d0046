import type { Clock } from '../../db/clock.ts';
import type { Sql } from '../../db/connect.ts';
import type { Wakes } from '../../db/wake.ts';
import type { Log } from '../../logger.ts';
import type { QueueNames } from '../../queues/names.ts';
import type { RunStats } from '../../telemetry/stats/record.ts';
import type { Versions } from '../../versions/versions.ts';
import type { RunChanges } from './changes.ts';
import type { DeclaredPaths } from '../paths/declared.ts';

/** The dependencies of run operations, with one instance in each server process. */
export interface Engine {
  readonly sql: Sql;
  readonly log: Log;
  readonly clock: Clock;
  readonly queues: QueueNames;
  readonly versions: Versions;
  readonly wakes: Wakes;
  readonly changes: RunChanges;
  readonly stats: RunStats;
  readonly paths: DeclaredPaths;
}
