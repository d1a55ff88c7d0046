#!/usr/bin/env node
// Plain JavaScript that old versions of Node can read too: the version is checked before anything else is loaded.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `create-millrace: Node ${process.versions.node} is too old. Install Node 20.19 or later, then try again.`,
  );
  process.exit(1);
}
const { main } = await import('../dist/main.js');
process.exitCode = await main(process.argv.slice(2), process.env['npm_config_user_agent']);
