import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { S3Settings } from '../../store/s3.ts';

export interface S3Server {
  readonly settings: S3Settings;
  /** The objects in the bucket, by key, as files that may be changed. */
  objects(): Promise<Map<string, string>>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const bucket = 'bundles';
const suffix = '._S3rver_object';

/** An S3-compatible server in a separate process, with one bucket, until the test ends. */
export async function startS3Server(changes: Partial<S3Settings> = {}): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-s3-'));
  const program = fileURLToPath(new URL('../bin/s3rver.js', import.meta.resolve('s3rver')));
  let port = 0;
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const args = [program, '-s', '-d', folder, '-p', String(port), '--configure-bucket', bucket];
    const started = spawn(process.execPath, ['--no-deprecation', ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child = started;
    for await (const line of createInterface(started.stdout)) {
      const [, own] = /listening on [^ ]*:(\d+)$/.exec(line) ?? [];
      if (own === undefined) continue;
      port = Number(own);
      return;
    }
    throw new Error('the S3 server did not start');
  };
  const stop = async (): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  onTestFinished(async () => {
    await stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  await start();
  return {
    settings: {
      bucket,
      prefix: 'millrace/files',
      region: 'us-east-1',
      endpoint: `http://127.0.0.1:${port}`,
      pathStyle: true,
      accessKeyId: 'S3RVER',
      secretAccessKey: 'S3RVER',
      ...changes,
    },
    async objects() {
      const root = join(folder, bucket);
      const entries = await readdir(root, { withFileTypes: true, recursive: true });
      const files = entries
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
      return new Map(
        files
          .filter((file) => file.endsWith(suffix))
          .map((file) => [relative(root, file).slice(0, -suffix.length), file]),
      );
    },
    start,
    stop,
  };
}
