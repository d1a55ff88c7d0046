import { createAgent, tool } from 'langchain';
import { z } from 'zod';

export default async () => {
  const add = tool(({ a, b }) => String(a + b), {
    name: 'add',
    schema: z.object({ a: z.number(), b: z.number() }),
  });
  return [typeof createAgent, await add.invoke({ a: 1, b: 2 })];
};
