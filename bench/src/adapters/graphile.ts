import { makeWorkerUtils } from 'graphile-worker';
import { logger } from '../inside/graphile.ts';
import type { Address, System } from '../system.ts';
import { Tables, type Databases } from '../postgres.ts';
import { startPeerRunner } from '../peer-runner-process.ts';

export function graphile(databases: Databases): System {
  let address: Address = {};
  let tables: Tables | undefined;
  return {
    name: 'graphile',
    async begin() {
      await tables?.close();
      const database = await databases.fresh('bench_graphile');
      address = { database };
      tables = new Tables(database);
      const set = await makeWorkerUtils({ connectionString: database, logger });
      await set.migrate();
      await set.release();
      return address;
    },
    startRunner: (options) => startPeerRunner('graphile', address, options),
    pending: async () => (await tables?.count('select count(*) from graphile_worker._private_jobs')) ?? NaN,
    async clone(n) {
      await tables?.clone('graphile_worker._private_jobs', n, {
        payload: `jsonb_set(t.payload::jsonb, '{i}', to_jsonb(g))::json`,
      });
      await tables?.vacuum();
    },
    serverPid: () => null,
    databasePid: () => databases.pid,
    end: async () => tables?.close(),
  };
}
