import { PassThrough } from 'node:stream';
import ora from 'ora';

export default async () => {
  const stream = new PassThrough();
  ora({ stream, text: 'work', isEnabled: false }).start().succeed();
  return String(stream.read()).includes('work');
};
