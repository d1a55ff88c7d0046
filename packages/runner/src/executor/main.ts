/**
 * An executor process. It imports one build of a project and, depending on its first message, reports the tasks (`index`) or runs
 * attempts of them (`serve`). It ends when its pipe to the runner ends.
 */
import { Socket } from 'node:net';
import { indexEntries } from './index-entries.ts';
import { readLines } from './read-lines.ts';
import type { ToExecutor } from './messages.ts';
import { loadSdk } from './sdk.ts';
import { Serving } from './serving.ts';
import { pipeDescriptor, ToRunner } from './to-runner.ts';

const pipe = new Socket({ fd: pipeDescriptor, readable: true, writable: true });
const runner = new ToRunner(pipe);
// Calls process.exit, because timers and sockets of tasks must not keep the process alive.
pipe.on('end', () => process.exit(0));
pipe.on('error', () => process.exit(0));

const projectDir = process.cwd();
const sdk = loadSdk(projectDir, process.argv[2]);
// The rejection is handled below; until then it must not count as unhandled.
sdk.catch(() => undefined);
let serving: Serving | undefined;

let received = 0;

const onLine = (line: Buffer): void => {
  const message = parsed(line);
  if (!message) return;
  received += 1;
  if (message.type === 'index' || message.type === 'serve') {
    runner.identify(message.token);
    Object.assign(process.env, message.env);
  }
  if (message.type === 'ping') runner.send({ type: 'pong', isComplete: message.sent === received });
  else if (message.type === 'index')
    void sdk.then((loaded) => indexEntries(loaded, projectDir, message, runner.send.bind(runner)));
  else if (message.type === 'serve') serving = new Serving(sdk, message, runner);
  else if (message.type === 'run') serving?.run(message.assignments);
  else if (message.type === 'waited') serving?.waited(message.attempts);
  else if (message.type === 'credential') serving?.credential(message);
  else serving?.cancel(message.fences);
};
readLines(pipe, { onLine });

/** Task code may have read part of a line. The runner detects this by the number of messages. */
function parsed(line: Buffer): ToExecutor | undefined {
  try {
    return JSON.parse(line.toString('utf8')) as ToExecutor;
  } catch {
    return undefined;
  }
}
