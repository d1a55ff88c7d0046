/**
 * An executor process: it imports one build of a project and, as its first message says, tells what tasks there are
 * (`index`) or runs attempts of them (`serve`). It ends with its pipe to the runner.
 */
import { Socket } from 'node:net';
import { indexEntries } from './index-entries.ts';
import { readLines } from './lines.ts';
import type { FromExecutor, ToExecutor } from './messages.ts';
import { loadSdk } from './sdk.ts';
import { Serving } from './serving.ts';

const pipe = new Socket({ fd: 3, readable: true, writable: true });
const send = (message: FromExecutor): void => {
  pipe.write(`${JSON.stringify(message)}\n`);
};
// process.exit, not an emptied loop: the author's timers and sockets must not keep a process that nobody listens to.
pipe.on('end', () => process.exit(0));
pipe.on('error', () => process.exit(0));

const projectDir = process.cwd();
const sdk = loadSdk(projectDir);
// A rejection is reported by whoever awaits it below; until then it must not count as unhandled.
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
