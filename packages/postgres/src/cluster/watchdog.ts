/**
 * The watchdog on systems without a shell: the parent of the server. It stops the server when its standard input ends, regardless of how
 * the process at the other end died, or after a line with the tenths of a second that the server has to finish. Arguments: `pg_ctl`, the
 * folder of the cluster, then the command of the server.
 */
import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';

/** Tenths of a second that the server has when the process at the other end has died. */
const ORPHANED = '7';
const LAST_MS = 5_000;

const [pgCtl = '', cluster = '', program = '', ...args] = process.argv.slice(2);

// The server must keep running until the process at the other end has finished, which receives the same signals.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] as const) process.on(signal, () => {});

const server = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], windowsHide: true });
server.on('error', (error) => {
  console.error(error.message);
  process.exit(1);
});
server.on('exit', (code) => process.exit(code ?? 1));

const stop = async (tenths: number): Promise<void> => {
  await ask('fast', tenths * 100);
  await ask('immediate', LAST_MS);
  server.kill('SIGKILL');
};

/**
 * Resolves after this time, unless this process ends earlier together with the server. Repeats the request while `postmaster.pid` does not
 * exist yet.
 */
async function ask(mode: 'fast' | 'immediate', milliseconds: number): Promise<void> {
  const deadline = Date.now() + milliseconds;
  let isStopSent = false;
  while (Date.now() < deadline) {
    isStopSent ||= await runPgCtl(mode);
    await wait(50);
  }
}

const runPgCtl = (mode: string): Promise<boolean> =>
  new Promise((resolve) => {
    const options = ['stop', '-D', cluster, '-m', mode, '--no-wait', '--silent'];
    execFile(pgCtl, options, { windowsHide: true }, (error) => resolve(error === null));
  });

const lines = createInterface(process.stdin);
let isStopping = false;
const stopOnce = (line: string): void => {
  if (isStopping) return;
  isStopping = true;
  void stop(Number(line));
};
lines.on('line', stopOnce);
lines.on('close', () => stopOnce(ORPHANED));
