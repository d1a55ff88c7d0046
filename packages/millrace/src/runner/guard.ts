import { spawn } from 'node:child_process';

/** Kills the process groups on its list when the runner has ended, however it ended. */
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

/**
 * An executor with a blocked event loop does not notice that its pipe ended, and would run forever after its runner was
 * killed. So a small shell waits for the end of a pipe and then kills it.
 */
export function startGuard(): Guard {
  if (process.platform === 'win32')
    return { add: () => undefined, remove: () => undefined, end: () => undefined };
  const shell = spawn('sh', ['-c', script], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    // It gets none of our settings, since they would be readable in its environment.
    env: { PATH: process.env['PATH'] },
  });
  // Without a shell there is no guard; executors that are not blocked still end with their pipes.
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  const tell = (act: string, pid: number | undefined): void => {
    if (pid !== undefined && shell.stdin.writable) shell.stdin.write(`${act} ${pid}\n`);
  };
  return {
    add: (pid) => tell('add', pid),
    remove: (pid) => tell('remove', pid),
    end: () => shell.stdin.end(),
  };
}
