import { makeWorkerUtils } from 'graphile-worker';

/** Reads its migrations from a folder of the package. */
export default async () =>
  makeWorkerUtils({ connectionString: 'postgres://127.0.0.1:1/none' }).then(
    (utils) => utils.release(),
    (error) => error.code,
  );
