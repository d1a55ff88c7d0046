import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findServer, rememberDev } from './connection.ts';

const running = { url: 'http://127.0.0.1:4400', key: 'svc_dev_sk_0' };

describe('which server a command speaks to', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'millrace-connection-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('the one that is named, also beside a running dev', async () => {
    await rememberDev(dir, running);
    const named = { url: 'https://millrace.example.com', key: 'svc_prod_sk_1' };
    expect(await findServer({ dir, ...named })).toEqual(named);
  });

  it('else the dev of the folder, for as long as it runs', async () => {
    const forget = await rememberDev(dir, running);
    expect(await findServer({ dir })).toMatchObject(running);
    await forget();
    await expect(findServer({ dir })).rejects.toThrow(/start `millrace dev`/);
  });

  it('never sends the key of one server to another', async () => {
    await rememberDev(dir, running);
    await expect(findServer({ dir, url: 'https://elsewhere.example.com' })).rejects.toThrow(
      /MILLRACE_SECRET_KEY/,
    );
    await expect(findServer({ dir, key: 'svc_prod_sk_1' })).rejects.toThrow(/MILLRACE_API_URL/);
  });

  it('keeps the key from other users of the machine', async () => {
    await rememberDev(dir, running);
    expect((await stat(join(dir, '.millrace', 'dev.json'))).mode & 0o077).toBe(0);
  });
});
