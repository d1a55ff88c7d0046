import { isDeepStrictEqual } from 'node:util';
import type { History } from '../history/types.ts';
import { groupBy, type Violation } from './violation.ts';

/** A step has at most one result: each execution returned another value, so a second result is visible. With a result it does not execute again. */
export function checkSteps({ effects, stored }: History): Violation[] {
  const violations: Violation[] = [];
  const broken = (run: string, name: string, why: string): number =>
    violations.push({ promise: 'step', detail: `run ${run}, step ${name}: ${why}` });

  const ofSteps = effects.filter(({ point }) => /^(?:execute|result) /.test(point));
  const storedValues = new Map(stored.steps.map(({ run, name, value }) => [`${run} ${name}`, value]));
  for (const [id, group] of groupBy(ofSteps, ({ run, point }) => `${run} ${point.split(' ')[1]}`)) {
    const [run = '', name = ''] = id.split(' ');
    const executions = group.filter(({ point }) => point.startsWith('execute'));
    const results = group.filter(({ point }) => point.startsWith('result'));
    const values = new Set(results.map(({ value }) => value));
    if (values.size > 1) broken(run, name, `${values.size} results`);
    const firstResultAt = Math.min(...results.map(({ at }) => at));
    if (executions.some(({ at }) => at > firstResultAt))
      broken(run, name, 'executed after its result was stored');
    for (const value of values) {
      if (!executions.some((execution) => execution.value === value))
        broken(run, name, 'a result of no execution');
      if (storedValues.get(id) !== value) broken(run, name, 'the stored result is another one');
    }
  }

  for (const { id, task, status, output } of stored.runs) {
    if (task !== 'stepping' || status !== 'COMPLETED') continue;
    const expected = ['first', 'second', 'third'].map((name) => storedValues.get(`${id} ${name}`));
    if (!isDeepStrictEqual(output, expected)) broken(id, 'all', 'the output differs from the stored results');
  }
  return violations;
}
