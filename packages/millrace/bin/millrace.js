#!/usr/bin/env -S node --max-semi-space-size=8
// Plain JavaScript that old versions of Node can read too: the version is checked before anything else is loaded.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `millrace: Node ${process.versions.node} is too old. Install Node 20.19 or later, then try again.`,
  );
  process.exit(3);
}
const { bun, deno } = process.versions;
if (bun !== undefined || deno !== undefined) {
  console.error(
    `millrace: this is ${bun === undefined ? `Deno ${deno}` : `Bun ${bun}`}, but the command and tasks run only in Node.js. Install Node.js 20.19 or later, and run \`npx millrace\` or \`bunx millrace\` without \`--bun\`. Programs in Bun and Deno can use @millrace/sdk.`,
  );
  process.exit(3);
}
const { enableCompileCache } = await import('node:module');
// Node 22.1 and later.
enableCompileCache?.();
const { main } = await import('../dist/cli/main.js');
process.exit(await main(process.argv.slice(2)));
