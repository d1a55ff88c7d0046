import { spawn } from 'node:child_process';

/** Kills the process groups that are still on its list when the runner is gone, however it went. */
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
 * An executor whose loop is blocked does not notice that its pipe ended, and would compute for ever after its runner was
 * killed. So a shell of one megabyte waits for the end of a pipe on our behalf.
 */
export function startGuard(): Guard {
  if (process.platform === 'win32')
    return { add: () => undefined, remove: () => undefined, end: () => undefined };
  const shell = spawn('sh', ['-c', script], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    // It needs none of our settings, which anybody who may read its environment would see.
    env: { PATH: process.env['PATH'] },
  });
  // Without a shell the guard is not there; executors end with their pipes all the same.
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
