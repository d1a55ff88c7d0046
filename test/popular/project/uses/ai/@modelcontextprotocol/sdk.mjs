import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

export default async () => {
  const server = new McpServer({ name: 'server', version: '1.0.0' });
  server.registerTool('double', { inputSchema: { n: z.number() } }, async ({ n }) => ({
    content: [{ type: 'text', text: String(2 * n) }],
  }));
  const client = new Client({ name: 'client', version: '1.0.0' });
  const [a, b] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(a), client.connect(b)]);
  const { content } = await client.callTool({ name: 'double', arguments: { n: 4 } });
  await client.close();
  return content;
};
