import { expect, test } from 'vitest';
import { findSelfReference } from './self-reference.ts';

test.each([
  ["fs.readFileSync(path.join(__dirname, 'data.txt'))", 'files'],
  ['const where = { file: __filename };', 'files'],
  ["fs.readFileSync(new URL('./data.txt', import.meta.url))", 'files'],
  ["new Worker(new URL('./worker.js', import.meta.url))", 'files'],
  ['const here = dirname(fileURLToPath(import.meta.url)); read(here)', 'files'],
  ['let here; here = import.meta.dirname; read(`${here}/data.txt`);', 'files'],
  ["import { createRequire } from 'module'; createRequire(import.meta.url)('./data.json');", 'files'],
  ["const require = createRequire(import.meta.url); require('./data.json');", 'files'],
  [
    "const require = createRequire(import.meta.url); var __require = /* @__PURE__ */ ((x) => typeof require !== 'undefined' ? require : x)(1); __require('other');",
    'files',
  ],
  ["fork(import.meta.resolve('./worker.js'))", 'files'],
  ["require.resolve('./worker.js')", 'names'],
  ['require(name)', 'names'],
  ['require(`./locale/${name}`)', 'names'],
  ["require('./locale/' + name)", 'names'],
  ['const load = require; load(name);', 'names'],
  ["module.require('other')", 'names'],
  ["eval('require')('other')", 'names'],
  ["eval('quire'.replace(/^/, 're'))(name)", 'names'],
  ['await import(name)', 'names'],
  ["const load = new Function('name', 'return import(name)');", 'names'],
  ['const load = Function("return (path) => import(path)")();', 'names'],
  ["Function('return require')()('other')", 'names'],
  ["eval('import(' + name + ')')", 'names'],
  ["read(module.filename + '/../data.txt')", 'files'],
  ["find(module.paths, 'other')", 'files'],
  ["const load = createRequire(process.cwd() + '/'); load(name);", 'names'],
  ["Module.createRequire(join(process.cwd(), 'noop.js'))('driver')", 'names'],
  ["const name = 'other'; await import(name)", 'names'],
  ["await import(/* webpackIgnore: true */ './worker' + n)", 'names'],
])('%s keeps a package whole', (code, kind) => {
  expect(findSelfReference(`\n${code}`)).toEqual({ kind, line: 2 });
});

test.each([
  ["const a = require('a'); typeof require; require.main === module;"],
  ["import a from 'a'; await import('b'); await import(/* a note */ 'c');"],
  ["typeof __dirname === 'string'"],
  ['if (import.meta.url === pathToFileURL(process.argv[1]).href) main();'],
  ["import.meta.url.startsWith('file:') ? 1 : 2"],
  ['const __filename = fileURLToPath(import.meta.url); const __dirname = dirname(__filename);'],
  ["const require = createRequire(import.meta.url); require('node:fs');"],
  [
    "const require = createRequire(import.meta.url); var __require = ((x) => typeof require !== 'undefined' ? require : x)(1); __require('fs');",
  ],
  ["require.resolve('fs')"],
  ["new Function('require', 'module', code); new Function('return this')(); value instanceof Function"],
  ['(function (module) { module.paths = []; })(a); module.paths = []; delete module.filename;'],
  ["import module from 'module'; module.paths;"],
  ["const load = createRequire(process.cwd() + '/'); load('fs');"],
  ['import(`./lang/${name}.js`)'],
  ["const name = 'node:zlib'; await import(name); require(`node:${name}`);"],
  ["(function (require, __dirname) { require(name); read(__dirname); })(a, '/')"],
  ['a.require(name); a.__dirname; a.import(name);'],
  ["import.meta.env.MODE; const text = '__dirname';"],
  ['const require = (name) => modules[name]; require(name);'],
])('%s may be bundled', (code) => {
  expect(findSelfReference(code)).toBeUndefined();
});

test('text that is not JavaScript throws', () => {
  expect(() => findSelfReference('const a: string = __dirname;')).toThrow(SyntaxError);
});
