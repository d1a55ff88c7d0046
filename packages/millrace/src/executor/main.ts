/**
 * An executor process. It imports one build of a project and, depending on its first message, reports the tasks (`index`) or runs
 * attempts of them (`serve`). It ends when its pipe to the runner ends.
 */
import { Socket } from 'node:net';
import { indexEntries } from './index-entries.ts';
import { readLines } from './read-lines.ts';
import type { FromExecutor, ToExecutor } from './messages.ts';
import { loadSdk } from './sdk.ts';
import { Serving } from './serving.ts';

const pipe = new Socket({ fd: 3, readable: true, writable: true });
const send = (message: FromExecutor): void => {
  pipe.write(`${JSON.stringify(message)}\n`);
};
// process.exit, because timers and sockets of tasks must not keep the process alive.
pipe.on('end', () => process.exit(0));
pipe.on('error', () => process.exit(0));

const projectDir = process.cwd();
const sdk = loadSdk(projectDir, process.argv[2]);
// The rejection is handled below; until then it must not count as unhandled.
sdk.catch(() => undefined);
let serving: Serving | undefined;

readLines(pipe, (line) => {
  const message = JSON.parse(line) as ToExecutor;
  if (message.type === 'index' || message.type === 'serve') Object.assign(process.env, message.env);
  if (message.type === 'ping') send({ type: 'pong' });
  else if (message.type === 'index')
    void sdk.then((loaded) => indexEntries(loaded, projectDir, message, send));
  else if (message.type === 'serve') serving = new Serving(sdk, message, pipe);
  else if (message.type === 'run') serving?.run(message.assignments);
  else if (message.type === 'waited') serving?.waited(message.attempts);
  else if (message.type === 'credential') serving?.credential(message);
  else serving?.cancel(message.fences);
});
