import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A user of this machine that executors run as. */
export interface RunAs {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

/** Executors cannot be run as the user that was named. The message says why. */
class RunAsError extends Error {
  override readonly name = 'RunAsError';
}

/**
 * The user to run executors as, who must be able to read the project. Another user's processes cannot read what the runner's own
 * environment and memory hold. Throws a RunAsError.
 */
export function findRunAs(name: string, projectDir: string): RunAs {
  if (process.getuid?.() !== 0) {
    throw new RunAsError(
      `--run-as ${name}: only root may start processes of another user. Start the runner as root, or as ${name} without --run-as.`,
    );
  }
  const found = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find((fields) => fields[0] === name);
  const [, , uid, gid, , home = '/'] = found ?? [];
  if (found === undefined) throw new RunAsError(`--run-as ${name}: there is no such user in /etc/passwd.`);
  if (Number(uid) === 0)
    throw new RunAsError(`--run-as ${name}: that is root. Name a user without privileges.`);
  const user = { name, uid: Number(uid), gid: Number(gid), home };
  // Asked of the kernel by trying: modes of files alone say nothing of access lists and mounts.
  const { status, error } = spawnSync(process.execPath, ['-e', 'require("fs").readdirSync(".")'], {
    ...idsOf(user),
    cwd: projectDir,
    env: {},
    stdio: 'ignore',
  });
  if (status === 0 && error === undefined) return user;
  throw new RunAsError(
    `--run-as ${name}: that user cannot run ${process.execPath} or read ${join(projectDir, '/')}. Let them read both.`,
  );
}

export const idsOf = ({ uid, gid }: RunAs): { uid: number; gid: number } => ({ uid, gid });

/** Who a process is by its environment: what it finds by HOME must be that user's. */
export const identityOf = ({ name, home }: RunAs): Record<string, string> => ({
  HOME: home,
  USER: name,
  LOGNAME: name,
});
