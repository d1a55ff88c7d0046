import { Command } from 'commander';
import { call } from '../call.ts';
import { findLogin, withLoginOptions, type LoginOptions } from '../login.ts';
import { openInBrowser } from '../open-in-browser.ts';
import { printJson, screenOn } from '../screen.ts';

interface Options extends LoginOptions {
  readonly browser: boolean;
  readonly json?: boolean;
}

export const openCommand = (): Command =>
  withLoginOptions(
    new Command('open')
      .description('open the dashboard in a browser, logged in as you')
      .option('--no-browser', 'only print the login link, which is valid once within ten minutes'),
  ).action(async ({ browser, json, ...options }: Options) => {
    const link = await call(await findLogin(options), 'createBrowserLink');
    const opened = browser && !json && openInBrowser(link.url);
    if (json) return printJson(link);
    const { line } = screenOn(process.stdout);
    line(link.url);
    line(
      opened
        ? 'A browser opens. If not, open the link, which is valid once within ten minutes.'
        : 'The link logs in one browser, once, within ten minutes. Do not share it.',
    );
  });
