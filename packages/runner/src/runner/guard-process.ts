/**
 * The guard on systems without a shell. Reads lines `add <pid>` and `remove <pid>`; when the input ends, it kills the processes on its list.
 */
import { createInterface } from 'node:readline';
import { killTree } from '@millrace/platform';

const pids = new Set<number>();

createInterface(process.stdin)
  .on('line', (line) => {
    const [act, pid] = line.split(' ');
    if (act === 'add') pids.add(Number(pid));
    else pids.delete(Number(pid));
  })
  .on('close', () => {
    for (const pid of pids) killTree(pid);
  });
