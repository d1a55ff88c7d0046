import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openInBrowser } from './open-in-browser.ts';

/** A folder with an `xdg-open` that records its argument. */
async function withOpener() {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-open-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'opened');
  await writeFile(join(folder, 'xdg-open'), `#!/bin/sh\nprintf '%s\\n' "$@" >> '${file}'\n`);
  await chmod(join(folder, 'xdg-open'), 0o755);
  const before = process.env['PATH'];
  process.env['PATH'] = `${folder}:${before}`;
  onTestFinished(() => void (process.env['PATH'] = before));
  return { opened: () => readFile(file, 'utf8').catch(() => '') };
}

test.runIf(process.platform === 'linux')(
  'opens a browser only on a machine with a screen, and only for a link',
  async () => {
    const { opened } = await withOpener();
    const screen = { DISPLAY: ':0' };
    const link = 'http://127.0.0.1:4400/tools/login#link=svc_link_abc';
    for (const url of [
      'file:///etc/passwd',
      'javascript:alert(1)#link=a',
      '--version',
      'https://example.com/login#link=a&calc.exe',
      'https://example.com/$(touch x)#link=a',
      'https://user:password@example.com/login#link=a',
      'https://example.com/login',
      'https://example.com/account?approve=WDJB-MJHT&calc.exe',
    ])
      expect([url, openInBrowser(url, screen)]).toEqual([url, false]);
    expect(openInBrowser(link, {})).toBe(false);
    expect(openInBrowser(link, { ...screen, SSH_CONNECTION: '1' })).toBe(false);
    expect(openInBrowser(link, screen)).toBe(true);
    await expect.poll(opened).toBe(`${link}\n`);
    for (const url of [
      'http://[::1]:4400/login#link=svc_link_abc',
      'https://example.com/tools/account?approve=WDJB-MJHT',
    ])
      expect(openInBrowser(url, { WAYLAND_DISPLAY: 'x' })).toBe(true);
  },
);
