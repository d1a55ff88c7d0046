import type { AuditEntry } from '@millrace/contract';
import { Command } from 'commander';
import { call } from '../call.ts';
import { instant, positiveInteger } from '../options.ts';
import { findOrganization, withOrganizationOptions, type OrganizationOptions } from '../organization.ts';
import { printTable } from '../print-table.ts';
import { printJson } from '../screen.ts';

interface AuditOptions extends OrganizationOptions {
  readonly target?: string;
  readonly act?: string;
  readonly actor?: string;
  readonly project?: string;
  readonly from?: Date;
  readonly to?: Date;
  readonly limit: number;
}

export const auditCommand = (): Command =>
  withOrganizationOptions(
    new Command('audit')
      .description('list the audit log of an organization (admins only)')
      .option('--target <id>', 'filter by object: the ID of a key, member, queue, schedule, version …')
      .option('--act <action>', 'filter by action, such as key.revoked')
      .option('--actor <id>', 'filter by the ID of the acting user or key')
      .option('--project <ref>', 'filter by project ref (proj_…)')
      .option('--from <date>', 'at or after this date', instant)
      .option('--to <date>', 'before this date', instant)
      .option('--limit <count>', 'maximum number of results', positiveInteger, 25),
  ).action(async (options: AuditOptions) => {
    const { login, organization } = await findOrganization(options);
    const { target, act, actor, project, from, to, limit } = options;
    const entries: AuditEntry[] = [];
    let after: string | undefined;
    do {
      const { data, pagination } = await call(login, 'listAuditEntries', {
        params: { organization },
        query: {
          'page[size]': String(Math.min(100, limit - entries.length)),
          ...(after !== undefined && { 'page[after]': after }),
          ...(target !== undefined && { 'filter[target]': target }),
          ...(act !== undefined && { 'filter[act]': act }),
          ...(actor !== undefined && { 'filter[actor]': actor }),
          ...(project !== undefined && { 'filter[projectRef]': project }),
          ...(from && { 'filter[from]': from.toISOString() }),
          ...(to && { 'filter[to]': to.toISOString() }),
        },
      });
      entries.push(...data);
      after = pagination.next;
    } while (after !== undefined && entries.length < limit);
    if (options.json) return entries.forEach(printJson);
    printTable(
      ['at', 'act', 'target', 'by', 'where', 'changed'],
      entries.map((entry) => [
        entry.at,
        entry.act,
        entry.target,
        entry.actor.id,
        [entry.projectRef, entry.environment].filter(Boolean).join(' '),
        entry.new ? JSON.stringify(entry.new) : '',
      ]),
    );
  });
