import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The operating system user that executors run as. */
export interface RunAs {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

/** Executors cannot run as the configured user. The message contains the reason. */
class RunAsError extends Error {
  override readonly name = 'RunAsError';
}

/**
 * Finds the user to run executors as, who must be able to read the project. A process of another user cannot read the runner's environment
 * or memory. Throws a RunAsError.
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
  if (found === undefined) throw new RunAsError(`--run-as ${name}: no such user in /etc/passwd.`);
  if (Number(uid) === 0)
    throw new RunAsError(`--run-as ${name}: must not be root. Use an unprivileged user.`);
  const user = { name, uid: Number(uid), gid: Number(gid), home };
  // Checked by attempting to read, because file modes do not reflect access control lists and mounts.
  const { status, error } = spawnSync(process.execPath, ['-e', 'require("fs").readdirSync(".")'], {
    ...idsOf(user),
    cwd: projectDir,
    env: {},
    stdio: 'ignore',
  });
  if (status === 0 && error === undefined) return user;
  throw new RunAsError(
    `--run-as ${name}: the user cannot run ${process.execPath} or read ${join(projectDir, '/')}. Grant it access to both.`,
  );
}

export const idsOf = ({ uid, gid }: RunAs): { uid: number; gid: number } => ({ uid, gid });

/** Variables that identify the user, such as HOME. */
export const identityOf = ({ name, home }: RunAs): Record<string, string> => ({
  HOME: home,
  USER: name,
  LOGNAME: name,
});
