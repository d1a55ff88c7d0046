import { z } from 'zod';
import type { ErrorRule } from '@millrace/contract';
import { compared, type Part, type Remote, type Step } from '../part.ts';

const pattern = z.string().min(1).nullable();
const rule = z.object({ task: pattern, type: pattern, message: pattern, groupKey: z.string().min(1) });
type RuleRecord = z.infer<typeof rule>;

const ruleOf = ({ task, type, message, groupKey }: ErrorRule): RuleRecord => ({
  task,
  type,
  message,
  groupKey,
});

const listRules = async ({ client, project }: Remote): Promise<RuleRecord[]> =>
  (await client.call('listErrorRules', { params: { projectRef: project } })).data.map(ruleOf);

/** Rules that group errors. They belong to the project and are in the file in the order in which they are evaluated. */
export const errorRules: Part<RuleRecord> = {
  kind: 'error-rule',
  record: rule,
  on: 'errors',
  async *read(remote) {
    yield* await listRules(remote);
  },
  async plan(records, remote) {
    const { client, project, environment } = remote;
    const mayChange = environment === 'prod' || environment === 'dev';
    /** The rules of the target in their order, including later ones. */
    const order = (await listRules(remote)).map(textOf);
    const own = new Set(order);
    const file = records.map(textOf);
    return records.map((entry, index): Step => {
      const kind = 'error-rule';
      const name = `${entry.groupKey}: ${[entry.task, entry.type, entry.message].filter(Boolean).join(' ')}`;
      const text = textOf(entry);
      const isThere = own.has(text);
      if (!isThere && !mayChange)
        return { kind, name, action: 'left-out', note: 'changing rules requires a key of prod or dev' };
      return compared({ kind, name, is: isThere ? 'same' : 'missing', override: false }, async () => {
        const at = indexFor(index, file, order);
        const body = { ...entry, position: at + 1 };
        await client.call('createErrorRule', { params: { projectRef: project }, body });
        order.splice(at, 0, text);
        return undefined;
      });
    });
  },
};

const textOf = ({ task, type, message, groupKey }: RuleRecord): string =>
  JSON.stringify([task, type, message, groupKey]);

/** The first matching rule applies, so a rule is placed after its predecessors and before its successors in the file. */
function indexFor(index: number, file: readonly string[], order: readonly string[]): number {
  const before = file.slice(0, index).map((text) => order.indexOf(text));
  const behind = Math.max(-1, ...before);
  if (behind >= 0) return behind + 1;
  const after = file
    .slice(index + 1)
    .map((text) => order.indexOf(text))
    .filter((at) => at >= 0);
  return Math.min(order.length, ...after);
}
