/** Two servers: an environment is moved from the source to the target. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';

export interface Pair {
  readonly source: TestServer;
  readonly target: TestServer;
  /** A folder for files and for the command's own settings. */
  readonly folder: string;
}

export async function startPair(onEnd: (end: () => Promise<void>) => void): Promise<Pair> {
  const [source, target] = await Promise.all([startTestServer(onEnd), startTestServer(onEnd)]);
  const folder = await mkdtemp(join(tmpdir(), 'millrace-transfer-'));
  onEnd(() => rm(folder, { recursive: true, force: true }));
  vi.stubEnv('XDG_CONFIG_HOME', folder);
  onEnd(async () => void vi.unstubAllEnvs());
  return { source, target, folder };
}
