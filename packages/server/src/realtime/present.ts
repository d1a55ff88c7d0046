import type { Sql } from '../db/connect.ts';
import { readChanged, type RunSnapshot } from './run-snapshot.ts';
import { pageOf, type Subject } from './subject.ts';

export interface PresentPage {
  readonly runs: readonly RunSnapshot[];
  /** The id after which the next page begins; undefined on the last page. */
  readonly next: string | undefined;
}

/** Reads a page of the current runs of a subject. */
export async function presentPage(sql: Sql, subject: Subject, after: string): Promise<PresentPage> {
  const { ids, more } = await pageOf(sql, subject, after);
  const rows = await readChanged(
    sql,
    ids.map((id) => ({ env: subject.env, id, digest: undefined })),
  );
  const runs = [...rows.values()].filter((run) => run !== null && subject.belongs(run)) as RunSnapshot[];
  return {
    runs: runs.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    next: more ? ids.at(-1) : undefined,
  };
}
