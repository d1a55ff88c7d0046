// Runs every bug of an app in its own call and prints what was thrown, one line of JSON each.
import { writeSync } from 'node:fs';
import { dataOf } from './data.js';

function thrownFields(thrown) {
  if (thrown instanceof Error || (typeof thrown === 'object' && thrown !== null && typeof thrown.stack === 'string')) {
    return { name: thrown.name, message: thrown.message, stack: thrown.stack };
  }
  if (typeof thrown === 'string') return { message: thrown };
  return { message: JSON.stringify(thrown) ?? String(thrown) };
}

async function attempt(task, payload, context) {
  return await task.run(payload, context);
}

export async function captureAll(bugs) {
  const seeds = (process.env.SCENE_SEEDS ?? '1').split(',').map(Number);
  const { inspect } = await import('node:util');
  for (const seed of seeds) {
    for (const [index, bug] of bugs.entries()) {
      const data = dataOf(seed * 7919 + index * 104729);
      const context = { run: { id: data.id('run', 21) }, http: process.env.SCENE_HTTP, pg: process.env.SCENE_PG, closed: process.env.SCENE_CLOSED };
      let fields;
      try {
        const late = new Promise((resolve) => setTimeout(resolve, 4000, 'late').unref());
        if ((await Promise.race([attempt(bug.task, bug.payload(data), context), late])) === 'late') process.stderr.write('late: ');
        process.stderr.write(`no error thrown: ${bug.label}\n`);
        continue;
      } catch (thrown) {
        fields = thrownFields(thrown);
        if (bug.inspected) fields.stack = inspect(thrown, { breakLength: 120 });
      }
      writeSync(1, `${JSON.stringify({ label: bug.label, taskIdentifier: bug.task.id, ...fields })}\n`);
    }
  }
  process.exit(0);
}
