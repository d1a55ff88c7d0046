import { spawn } from 'node:child_process';
import { release } from 'node:os';

/** The command that opens an address in the user's browser; undefined if there is no screen. */
function opener(env: NodeJS.ProcessEnv): readonly [command: string, ...args: string[]] | undefined {
  if (process.platform === 'darwin') return ['open'];
  // The empty argument is the title of the window.
  if (process.platform === 'win32') return ['cmd', '/c', 'start', ''];
  if (/microsoft/i.test(release())) return ['cmd.exe', '/c', 'start', ''];
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? ['xdg-open'] : undefined;
}

/** The address comes from the server, so it must not name a file or another program, nor have a special meaning in a shell. */
const harmless =
  /^https?:\/\/(?:[\w.-]+|\[[\da-f:]+\])(?::\d+)?(?:\/[\w.~-]+)*(?:#link=\w+|\/account\?approve=[\w-]+)$/i;

/** Starts the user's browser and does not wait for it. False if there is none, for example over SSH. */
export function openInBrowser(url: string, env: NodeJS.ProcessEnv = process.env): boolean {
  const [command, ...args] = env['SSH_CONNECTION'] ? [] : (opener(env) ?? []);
  if (command === undefined || !harmless.test(url)) return false;
  const browser = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
  // It is not installed. The link is printed anyway.
  browser.on('error', () => {});
  browser.unref();
  return true;
}
