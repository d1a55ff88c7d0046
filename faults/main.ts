/**
 * Breaks databases, networks and processes under load, and checks what clients were promised: `npm run faults`. docs/faults.md describes it.
 *
 * Starts the suite in namespaces of its own for network, mounts and processes. The kernel ends all of them with the suite's first process, so
 * nothing remains, whether the suite ends, is interrupted or is killed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { optionsOf, usage, UsageError, type Options } from './options.ts';
import { systemPath, unmetPrerequisites } from './prerequisites.ts';
import { scenarioNames, scenarios } from './scenarios/table.ts';
import { suiteFile } from './system/folders.ts';

const folderPrefix = 'millrace-faults-';

async function main(args: readonly string[]): Promise<number> {
  let options: Options;
  try {
    options = optionsOf(args, scenarioNames);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${usage}`);
    return 2;
  }
  if (options.list) {
    for (const [name, { title }] of Object.entries(scenarios)) console.log(`${name.padEnd(24)}${title}`);
    return 0;
  }
  const reasons = unmetPrerequisites();
  for (const reason of reasons) console.error(reason);
  if (reasons.length > 0) return 2;

  removeLeftovers();
  const folder = mkdtempSync(join(tmpdir(), folderPrefix));
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  const pidFile = join(folder, 'pid');
  writeFileSync(pidFile, String(process.pid));
  const seed = options.seed === undefined || args.includes('--seed') ? [] : ['--seed', String(options.seed)];
  // `setpriv` ends the namespaces if this process is killed. A shell is the first process, because it waits for orphans.
  const suite = [
    'bash',
    '-c',
    '"$@" & wait $!',
    'suite',
    process.execPath,
    suiteFile,
    folder,
    ...args,
    ...seed,
  ];
  const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child=SIGKILL', '--mount-proc'];
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', ...namespaces, ...suite], {
    stdio: 'inherit',
    env: { ...process.env, PATH: systemPath },
  });
  // The suite receives the same signal from the terminal, and ends by itself.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGKILL'));
  const [code] = (await once(child, 'exit')) as [number | null];
  // A folder without this file is not a leftover.
  rmSync(pidFile);
  if (options.keep) console.error(`Logs and histories: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
  return code ?? 1;
}

/** Deletes the folders of suites that were killed. Their processes have ended with them. */
function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(folderPrefix)) continue;
    const folder = join(tmpdir(), name);
    // PostgreSQL runs as another user.
    chmodSync(folder, 0o755);
    const pidFile = join(folder, 'pid');
    if (existsSync(pidFile) && !isRunning(pidFile)) rmSync(folder, { recursive: true, force: true });
  }
}

function isRunning(pidFile: string): boolean {
  try {
    const pid = readFileSync(pidFile, 'utf8');
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('faults');
  } catch {
    return false;
  }
}

process.exitCode = await main(process.argv.slice(2));
