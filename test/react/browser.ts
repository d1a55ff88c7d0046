import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import type { Page, Request } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { repository } from '../cli/command.ts';
import { newContext } from '../support/chromium.ts';

/** The versions of React with which the hooks are tested, and the folders of their packages. */
const reacts = {
  18: join(import.meta.dirname, 'react-18/node_modules'),
  19: join(repository, 'node_modules'),
} as const;
export type ReactVersion = keyof typeof reacts;

async function bundled(react: ReactVersion): Promise<string> {
  if (react === 18) await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'install.ts')]);
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./page.jsx', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    jsx: 'automatic',
    // Otherwise the page and the hooks could find different copies.
    alias: {
      react: join(reacts[react], 'react'),
      'react-dom': join(reacts[react], 'react-dom'),
      '@millrace/react': join(repository, 'packages/react/dist/index.js'),
    },
    // StrictMode mounts each component twice in development only.
    define: { 'process.env.NODE_ENV': '"development"' },
    tsconfigRaw: {},
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}

/** A page that shows one hook at a time. */
export interface Tab {
  /** Shows a hook with these options, below a provider. `name` undefined unmounts. A new `key` mounts another component. */
  show(name: string | undefined, props: object, auth: object, key?: string): Promise<void>;
  /** Clicks the button of the component. */
  act(): Promise<void>;
  /** Waits until the component shows this. */
  shows(expected: object): Promise<void>;
  /** The value of a global variable of the page. */
  read(name: 'completed' | 'refreshed'): Promise<unknown>;
  /** The subscriptions that the page has requested since the last call, with whether they are open. */
  subscriptions(): { readonly all: number; readonly open: number };
}

/** A page on another origin than the server. An error in the page fails the test. */
export async function openPage(react: ReactVersion): Promise<Tab> {
  const script = await bundled(react);
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(
      `<!doctype html><title>x</title><body><script>${script.replaceAll('</script', '<\\/script')}</script>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const page = await (await newContext()).newPage();
  failOnErrors(page);
  let all = new Set<Request>();
  const open = new Set<Request>();
  page.on('request', (request) => {
    if (request.method() !== 'GET' || !/\/events|\/streams\//.test(request.url())) return;
    all.add(request);
    open.add(request);
  });
  page.on('requestfailed', (request) => void open.delete(request));
  page.on('requestfinished', (request) => void open.delete(request));
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);

  const displayed = async (): Promise<object> =>
    JSON.parse((await page.locator('pre').textContent()) ?? '{}') as object;
  return {
    show: (name, props, auth, key = `${name} ${Math.random()}`) =>
      page.evaluate(
        `show(${JSON.stringify(name ?? null)}, ${[props, auth, key].map((value) => JSON.stringify(value)).join()})`,
      ),
    act: () => page.evaluate('act()'),
    async shows(expected) {
      await expect.poll(displayed, { timeout: 20_000 }).toMatchObject(expected);
    },
    read: (name) => page.evaluate(name),
    subscriptions() {
      const counted = { all: all.size, open: open.size };
      all = new Set();
      return counted;
    },
  };
}

function failOnErrors(page: Page): void {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.stack ?? error.message));
  page.on('console', (message) => {
    // The browser reports rejected and broken requests, which these tests cause.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      problems.push(message.text());
  });
  onTestFinished(() => expect(problems).toEqual([]));
}
