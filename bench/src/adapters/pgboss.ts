import { open } from '../inside/pgboss.ts';
import type { Address, System } from '../system.ts';
import { Tables, type Databases } from '../postgres.ts';
import { startPeerRunner } from '../peer-runner-process.ts';

export function pgboss(databases: Databases): System {
  let address: Address = {};
  let tables: Tables | undefined;
  return {
    name: 'pgboss',
    async begin() {
      await tables?.close();
      const database = await databases.fresh('bench_pgboss');
      address = { database };
      tables = new Tables(database);
      await (await open(database, {})).stop({ graceful: false });
      return address;
    },
    startRunner: (options) => startPeerRunner('pgboss', address, options),
    pending: async () =>
      (await tables?.count(`select count(*) from pgboss.job where name = 'noop' and state < 'completed'`)) ??
      NaN,
    completed: async () =>
      (await tables?.count(`select count(*) from pgboss.job where name = 'noop' and state = 'completed'`)) ??
      NaN,
    async clone(n) {
      await tables?.clone('pgboss.job', n, {
        id: 'gen_random_uuid()',
        data: `jsonb_set(t.data, '{i}', to_jsonb(g))`,
        created_on: `t.created_on + g * interval '1 microsecond'`,
      });
      await tables?.vacuum();
    },
    serverPid: () => null,
    databasePid: () => databases.pid,
    end: async () => tables?.close(),
  };
}
