import { PassThrough } from 'node:stream';
import signale from 'signale';

export default async () => {
  const stream = new PassThrough();
  new signale.Signale({ stream, config: { displayTimestamp: false } }).success('done');
  return String(stream.read()).includes('done');
};
