import type { Sql } from '../db/connect.ts';
import { ownQueue } from './find.ts';

/** Maps queue names to ids and back. A queue is never renamed or deleted, so cached entries remain valid. */
export interface QueueNames {
  /**
   * The id of a queue, which is created on first use. A task's own queue counts as declared once a version with the task has been current.
   */
  id(env: number, name: string): number | Promise<number>;
  name(id: number): string | Promise<string>;
}

const maxKnown = 100_000;

export function queueNames(sql: Sql): QueueNames {
  const ids = new Map<string, number>();
  const names = new Map<number, string>();

  const remember = (env: number, name: string, id: number): void => {
    if (ids.size >= maxKnown) {
      ids.clear();
      names.clear();
    }
    ids.set(`${env} ${name}`, id);
    names.set(id, name);
  };

  const find = async (env: number, name: string): Promise<number> => {
    const [row] = await sql<{ id: number }[]>`
      with created as (
        insert into queues (env, name, is_declared) values (${env}, ${name}, not starts_with(${name}, ${ownQueue}))
        on conflict do nothing returning id
      )
      select id from created union all select id from queues where env = ${env} and name = ${name} limit 1`;
    // Another process created it between the two reads; the next read sees it.
    if (!row) return find(env, name);
    remember(env, name, row.id);
    return row.id;
  };

  return {
    id: (env, name) => ids.get(`${env} ${name}`) ?? find(env, name),
    name: (id) =>
      names.get(id) ??
      sql<{ env: number; name: string }[]>`select env, name from queues where id = ${id}`.then(([row]) => {
        if (!row) throw new Error(`queue ${id} does not exist`);
        remember(row.env, row.name, id);
        return row.name;
      }),
  };
}

/** A queue name in the form accepted on the wire: at most 128 letters, digits, `_`, `/` or `-`; undefined if nothing is left. */
export function cleanQueueName(name: string): string | undefined {
  const clean = name.replace(/[^A-Za-z0-9_/-]/g, '').slice(0, 128);
  return clean === '' ? undefined : clean;
}
