import type { Body, Operations } from '@millrace/contract';
import type { Sql, Transaction } from '../../db/connect.ts';
import type { Engine } from '../../runs/engine/engine.ts';
import { testEngine, type TestEngine } from '../../runs/testing/engine.ts';
import type { Environment } from '../../auth/principal.ts';
import { createSchedule } from '../create.ts';
import { fireDue } from '../fire.ts';
import type { ScheduleRow } from '../row.ts';

export interface Fired {
  readonly schedule_id: string;
  readonly nominal_at: Date;
  readonly run_id: string;
}

export interface Skipped {
  readonly schedule_id: string;
  readonly from_at: Date;
  readonly until_at: Date;
  readonly reason: string;
}

/** Schedules on a separate database, fired by the test. */
export interface TestSchedules extends TestEngine {
  create(settings: Partial<Body<Operations['createSchedule']>> & { cron: string }): Promise<ScheduleRow>;
  /** Fires everything that is due now. */
  fire(engine?: Engine): Promise<void>;
  /** Advances the time to this instant. */
  goTo(instant: string | number): void;
  ticks(schedule?: string): Promise<Fired[]>;
  skips(schedule?: string): Promise<Skipped[]>;
  find(id: string): Promise<ScheduleRow>;
}

export async function testSchedules(kind: Environment['kind'] = 'prod'): Promise<TestSchedules> {
  const fixture = await testEngine(kind);
  const { engine, sql, environment, runners, dispatch } = fixture;
  let keys = 0;
  await fixture.register({ id: 'report', scheduled: true }, 'plain');
  return {
    ...fixture,
    create: (settings) =>
      createSchedule(engine, environment.id, {
        task: 'report',
        deduplicationKey: `key-${++keys}`,
        ...settings,
      }),
    async fire(through = engine) {
      while ((await fireDue({ engine: through, runners, dispatch })) > 0);
    },
    goTo(instant) {
      const at = typeof instant === 'number' ? instant : Date.parse(instant);
      engine.clock.shift(at - engine.clock.now());
    },
    ticks: (schedule) => sql<Fired[]>`
      select schedule_id, nominal_at, run_id from schedule_ticks
       where ${schedule ?? null}::text is null or schedule_id = ${schedule ?? null} order by nominal_at, schedule_id`,
    skips: (schedule) => sql<Skipped[]>`
      select schedule_id, from_at, until_at, reason from schedule_skips
       where ${schedule ?? null}::text is null or schedule_id = ${schedule ?? null} order by from_at, schedule_id`,
    async find(id) {
      const [row] = await sql<ScheduleRow[]>`select * from schedules where id = ${id}`;
      if (!row) throw new Error(`schedule ${id} not found`);
      return row;
    },
  };
}

/** An engine whose transactions die in the middle, before a statement or before the commit, as when a process dies. */
export function mortalEngine(engine: Engine, dies: () => boolean): Engine {
  const live = engine.sql;
  const dyingTag = (tx: Transaction): Transaction =>
    Object.assign(
      ((strings: TemplateStringsArray, ...values: unknown[]) => {
        if (dies()) throw new Error('killed');
        return tx(strings, ...values);
      }) as Transaction,
      { unsafe: tx.unsafe },
    );
  const sql: Sql = Object.assign(
    ((strings: TemplateStringsArray, ...values: unknown[]) => live(strings, ...values)) as Sql,
    live,
    {
      begin: <R>(act: (tx: Transaction) => Promise<R>) =>
        live.begin(async (tx) => {
          const result = await act(dyingTag(tx));
          if (dies()) throw new Error('killed');
          return result;
        }),
    },
  );
  return { ...engine, sql };
}
