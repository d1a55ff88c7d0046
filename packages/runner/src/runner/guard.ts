import { spawn } from 'node:child_process';
import { builtFile, ownWays, type Ways } from '@millrace/platform';

/** Kills the process groups on its list when the runner ends, for any reason. */
export interface Guard {
  readonly add: (pid: number | undefined) => void;
  readonly remove: (pid: number | undefined) => void;
  readonly end: () => void;
}

const script = `
pids=' '
while read -r act pid; do
  case "$act" in
    add) pids="$pids$pid " ;;
    remove) case "$pids" in *" $pid "*) pids="\${pids%% $pid *} \${pids#* $pid }" ;; esac ;;
  esac
done
for pid in $pids; do kill -9 "-$pid" 2>/dev/null; done
`;

const guardProcess = builtFile('runner/guard-process.js');

/**
 * An executor with a blocked event loop does not notice that its pipe ended, and would run forever after its runner was
 * killed. So a small shell, or a Node.js process where there is none, waits for the end of a pipe and then kills it.
 */
export function startGuard(ways: Ways = ownWays): Guard {
  const [program, ...args] = ways === 'unix' ? ['sh', '-c', script] : [process.execPath, guardProcess];
  const child = spawn(program ?? '', args, {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    windowsHide: true,
    // It does not receive any of our settings, because they would be readable in its environment.
    env: { PATH: process.env['PATH'] },
  });
  // If it cannot start, there is no guard; executors that are not blocked still end with their pipes.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  const send = (act: string, pid: number | undefined): void => {
    if (pid !== undefined && child.stdin.writable) child.stdin.write(`${act} ${pid}\n`);
  };
  return {
    add: (pid) => send('add', pid),
    remove: (pid) => send('remove', pid),
    end: () => child.stdin.end(),
  };
}
