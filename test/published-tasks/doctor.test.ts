import { expect, onTestFinished, test } from 'vitest';
import { finished } from '../cli/command.ts';
import { publishedProject } from './project.ts';

const files = {
  'trigger.config.ts': `
import { defineConfig } from '@trigger.dev/sdk';
export default defineConfig({ project: 'p', maxDuration: 60, runtime: 'bun', telemetry: {}, build: { extensions: [{ name: 'ffmpeg' }] } });
`,
  'trigger/a.ts': `
import { task, usage as used, type TaskOptions } from '@trigger.dev/sdk';
import { query } from '../lib/query';

export const a = task({ id: 'a', run: async () => [used.getCurrent(), query] });
export type Options = TaskOptions<'a'>;
`,
  'lib/query.ts': `export { query } from '@trigger.dev/sdk';\nimport { prompts } from '@trigger.dev/sdk';\nexport const promote = () => prompts.promote('greeting', 2);\n`,
};

test(
  'doctor says what works, what differs and what does not, with its place',
  { timeout: 60_000 },
  async () => {
    const { dir } = await publishedProject('4.8', files, onTestFinished);
    const json = await finished(['doctor', '--from-trigger', '--json'], { cwd: dir });
    expect(json.exitCode).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      version: expect.stringMatching(/^4\.8\./) as string,
      works: ['task'],
      findings: [
        { file: 'lib/query.ts', line: 1, column: 10, name: 'query', state: 'not' },
        { file: 'lib/query.ts', line: 2, name: 'prompts', state: 'differs' },
        { file: 'lib/query.ts', line: 3, name: 'prompts.promote', state: 'not' },
        { file: 'trigger/a.ts', line: 2, name: 'usage', state: 'differs' },
      ],
      config: [
        { file: 'trigger.config.ts', note: expect.stringMatching(/^telemetry: /) as string },
        { file: 'trigger.config.ts', note: expect.stringMatching(/^runtime: "bun" is not used/) as string },
        {
          file: 'trigger.config.ts',
          note: expect.stringMatching(/^the extension ffmpeg does nothing here/) as string,
        },
      ],
    });
    const { stdout } = await finished(['doctor', '--from-trigger'], { cwd: dir });
    expect(stdout).toMatch(/^tasks of @trigger\.dev\/sdk 4\.8\.\d+ run here, trigger\.config\.ts$/m);
    expect(stdout).toMatch(
      /^not +lib\/query\.ts:3:30: prompts\.promote: change the prompt in the code, and deploy it$/m,
    );
  },
);

test('doctor says so where there is nothing to move', { timeout: 60_000 }, async () => {
  const { dir, write } = await publishedProject('4.8', {}, onTestFinished);
  await write('package.json', '{}');
  const { exitCode, stderr } = await finished(['doctor', '--from-trigger'], { cwd: dir });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('there is nothing to move');
});
