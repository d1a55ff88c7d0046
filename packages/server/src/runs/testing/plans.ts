import { Client } from 'pg';
import { onTestFinished, vi } from 'vitest';
import type { Sql } from '../../db/connect.ts';

/** How one statement read one table: PostgreSQL's plan, and its cost when executed. */
export interface Scan {
  readonly statement: string;
  readonly table: string;
  /** `Index Scan`, `Seq Scan` … */
  readonly type: string;
  readonly index: string | undefined;
  readonly condition: string | undefined;
  /** For each execution: the rows and pages that it read. */
  readonly rows: number;
  readonly pages: number;
  readonly loops: number;
}

interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly Node[];
}

/**
 * Collects the plans of all statements of this process on a database, including those inside functions: auto_explain sends each to the session
 * that ran it. Only covers sessions that begin afterwards.
 */
export async function watchPlans(sql: Sql): Promise<{ take(): Scan[] }> {
  const [row] = await sql<{ name: string }[]>`select current_database() as name`;
  const settings = {
    session_preload_libraries: 'auto_explain',
    client_min_messages: 'log',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_nested_statements': 'on',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_buffers': 'on',
    'auto_explain.log_format': 'json',
  };
  for (const [name, value] of Object.entries(settings))
    await sql.unsafe(`alter database ${row?.name} set ${name} = '${value}'`);

  let scans: Scan[] = [];
  // Every connection of a pool is a `Client`; the pool itself does not expose its notices.
  const emit = Client.prototype.emit;
  const spy = vi.spyOn(Client.prototype, 'emit').mockImplementation(function (this: Client, event, ...args) {
    const message = event === 'notice' ? String((args[0] as Error).message) : '';
    const plan = /^duration: .* plan:\n(\{.*)$/s.exec(message)?.[1];
    if (plan !== undefined) scans.push(...scansOf(plan));
    return emit.call(this, event, ...args);
  });
  onTestFinished(() => spy.mockRestore());
  return {
    take() {
      const taken = scans;
      scans = [];
      return taken;
    },
  };
}

function scansOf(text: string): Scan[] {
  const { 'Query Text': statement, Plan: root } = JSON.parse(text) as { 'Query Text': string; Plan: Node };
  const found: Scan[] = [];
  const visit = (node: Node): void => {
    const { 'Relation Name': table, 'Node Type': type, 'Actual Loops': loops } = node;
    const below = node.Plans ?? [];
    if (table !== undefined && type.includes('Scan') && loops > 0) {
      // A bitmap is created by an index scan below it.
      const index = [node, ...below].find((child) => child['Index Name'] !== undefined);
      found.push({
        statement: statement.replaceAll(/\s+/g, ' ').trim(),
        table,
        type,
        index: index?.['Index Name'],
        condition: index?.['Index Cond'],
        rows:
          node['Actual Rows'] +
          (node['Rows Removed by Filter'] ?? 0) +
          (node['Rows Removed by Index Recheck'] ?? 0),
        pages: ((node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0)) / loops,
        loops,
      });
    }
    below.forEach(visit);
  };
  visit(root);
  return found;
}
