import bunyan from 'bunyan';

export default async () => {
  const stream = new bunyan.RingBuffer({ limit: 5 });
  bunyan.createLogger({ name: 'app', streams: [{ type: 'raw', stream }] }).warn({ n: 1 }, 'careful');
  return [stream.records[0].msg, stream.records[0].level];
};
