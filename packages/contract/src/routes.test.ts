import { expect, test } from 'vitest';
import { operations } from './index.ts';

const head = `// Written by routes.test.ts: npx vitest run packages/contract/src/routes.test.ts --update
import type { Operations } from './operations/index.ts';

/** Method and path of each operation. */
export const routes: Readonly<Record<keyof Operations, readonly [method: string, path: string]>> = {
`;

test('each operation has its route', async () => {
  const lines = Object.entries(operations).map(
    ([id, { method, path }]) => `  ${id}: ['${method}', '${path}'],`,
  );
  await expect(`${head}${lines.join('\n')}\n};\n`).toMatchFileSnapshot('./routes.ts');
});
