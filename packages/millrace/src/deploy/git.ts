import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { webAddressOfRemote } from '@millrace/contract/plain';

const run = promisify(execFile);

/** The commit of a folder. */
export interface GitInfo {
  readonly commit?: string;
  readonly branch?: string;
  readonly message?: string;
  readonly dirty?: boolean;
  readonly author?: string;
  /** The web address of the repository, without the credentials that the address of a remote may contain. */
  readonly remote?: string;
}

/** Undefined without git, a repository or a commit. */
export async function readGitInfo(dir: string): Promise<GitInfo | undefined> {
  const git = async (...args: string[]): Promise<string> =>
    (await run('git', ['-C', dir, ...args], { maxBuffer: 64 * 1024 * 1024 })).stdout.trim();
  try {
    const [commit, head, described, changes, address] = await Promise.all([
      git('rev-parse', 'HEAD'),
      git('rev-parse', '--abbrev-ref', 'HEAD'),
      git('log', '-1', '--format=%an%x00%s'),
      git('status', '--porcelain'),
      // A repository may have no remote with this name.
      git('remote', 'get-url', 'origin').catch(() => ''),
    ]);
    const [author = '', message = ''] = described.split('\0');
    const remote = webAddressOfRemote(address);
    const branch = head === 'HEAD' ? branchOfCi() : head;
    return {
      commit,
      ...(branch !== undefined && { branch: branch.slice(0, 255) }),
      message: message.slice(0, 1_000),
      dirty: changes !== '',
      ...(author !== '' && { author: author.slice(0, 255) }),
      ...(remote !== undefined && remote.length <= 1_000 && { remote }),
    };
  } catch {
    return undefined;
  }
}

/** CI services check out a commit, and name its branch in a variable. */
const branchOfCi = (): string | undefined =>
  process.env['GITHUB_HEAD_REF'] ||
  process.env['GITHUB_REF_NAME'] ||
  process.env['CI_COMMIT_BRANCH'] ||
  undefined;
