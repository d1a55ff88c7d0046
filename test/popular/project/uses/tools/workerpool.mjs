import workerpool from 'workerpool';

export default async () => {
  const pool = workerpool.pool({ maxWorkers: 1, workerType: 'thread' });
  const doubled = await pool.exec((n) => n * 2, [4]);
  await pool.terminate();
  return doubled;
};
