import { Command } from 'commander';
import { call } from '../call.ts';
import { findLogin, withLoginOptions, type LoginOptions } from '../login.ts';
import { printJson, screenOn, table } from '../screen.ts';

export const whoamiCommand = (): Command =>
  withLoginOptions(
    new Command('whoami').description('show the user of the login, or the owner of a token or key'),
  ).action(async (options: LoginOptions & { json?: boolean }) => {
    const login = await findLogin(options);
    const me = await call(login, 'whoami');
    if (options.json) return printJson({ url: login.url, ...me });
    const { line } = screenOn(process.stdout);
    const { user, organizations = [], project, environment, scopes } = me;
    const properties = [
      ['server', login.url],
      ...(user ? [['user', `${user.name} (${user.id})`]] : []),
      ...organizations.map(({ id, name, role }) => ['organization', `${name} (${id}), ${role}`]),
      ...(project ? [['project', project.ref]] : []),
      ...(environment
        ? [['environment', [environment.name, environment.branch].filter(Boolean).join(' ')]]
        : []),
      ...(scopes ? [['scopes', scopes.join(', ') || 'none']] : []),
    ];
    for (const row of table(properties)) line(row);
  });
