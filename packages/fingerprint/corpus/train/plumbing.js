import assert from 'node:assert';
import { execFileSync } from 'node:child_process';
import { createDecipheriv, createPrivateKey } from 'node:crypto';
import * as dns from 'node:dns/promises';
import fs from 'node:fs';
import { readFile, mkdir } from 'node:fs/promises';
import net from 'node:net';
import tls from 'node:tls';
import vm from 'node:vm';
import zlib from 'node:zlib';

function loadReport(path) {
  return JSON.parse(fs.readFileSync(path, 'utf8'));
}

async function loadTemplate(path) {
  return await readFile(path, 'utf8');
}

function parsePayload(text) {
  return JSON.parse(text);
}

function parseSettings(text) {
  return JSON.parse(text);
}

function dial(host, port) {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host, port }, () => resolve(socket));
    socket.on('error', reject);
  });
}

function dialTls(port) {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host: '127.0.0.1', port }, () => resolve(socket));
    socket.on('error', reject);
  });
}

function sumTotals(order) {
  return order.lines.map((line) => line.price.amount).reduce((sum, amount) => sum + amount, 0);
}

function formatAddress(user) {
  return user.address.street.toUpperCase();
}

function applyDiscount(cart, discount) {
  return cart.applyVoucher(discount);
}

function walk(node) {
  return walk({ parent: node });
}

const rules = {
  total(cart) {
    assert.strictEqual(cart.total, cart.expected);
  },
  lines(cart) {
    assert.deepStrictEqual(cart.lines, cart.wanted);
  },
  ok(cart) {
    assert(cart.total < 0, `Cart ${cart.id} must not be positive`);
  },
};

export const t = {
  report: { id: 'load-report', run: async ({ path }) => loadReport(path) },
  template: { id: 'load-template', run: async ({ path }) => await loadTemplate(path) },
  mkdir: { id: 'make-folder', run: async ({ path }) => { await mkdir(path); } },
  payload: { id: 'parse-payload', run: async ({ text }) => parsePayload(text) },
  settings: { id: 'parse-settings', run: async ({ text }) => parseSettings(text) },
  dial: { id: 'dial', run: async ({ host, port }) => await dial(host, port) },
  tls: { id: 'dial-tls', run: async (_payload, { http }) => await dialTls(Number(new URL(http).port)) },
  dns: { id: 'resolve-host', run: async ({ host }) => { await dns.lookup(host); } },
  totals: { id: 'sum-totals', run: async ({ order }) => sumTotals(order) },
  address: { id: 'format-address', run: async ({ user }) => formatAddress(user) },
  discount: { id: 'apply-discount', run: async ({ cart }) => applyDiscount(cart, 5) },
  walk: { id: 'walk-tree', run: async () => walk({}) },
  assertion: { id: 'check-cart', run: async ({ rule, cart }) => rules[rule](cart) },
  gunzip: { id: 'gunzip', run: async ({ text }) => { zlib.gunzipSync(Buffer.from(text)); } },
  exec: { id: 'run-tool', run: async ({ code }) => { execFileSync('sh', ['-c', `exit ${code}`]); } },
  missingTool: { id: 'missing-tool', run: async ({ name }) => { execFileSync(`/opt/tools/${name}/bin/convert`, ['-x']); } },
  vm: { id: 'user-script', run: async ({ source }) => { new vm.Script(source, { filename: 'rule.js' }).runInNewContext({}); } },
  module: { id: 'load-plugin', run: async ({ name }) => { await import(name); } },
  decipher: { id: 'decrypt', run: async ({ key }) => { const d = createDecipheriv('aes-128-cbc', key, key); d.update('00112233445566778899', 'hex'); d.final(); } },
  key: { id: 'read-key', run: async ({ text }) => { createPrivateKey(text); } },
  url: { id: 'parse-url', run: async ({ text }) => { new URL(text); } },
  argument: { id: 'bad-argument', run: async ({ value }) => { Buffer.from(value); } },
  range: { id: 'page-size', run: async ({ value }) => { Buffer.alloc(4).readUInt32BE(value); } },
  date: { id: 'format-date', run: async ({ value }) => { new Date(value).toISOString(); } },
  bigint: { id: 'to-bigint', run: async ({ value }) => { BigInt(value); } },
  json: { id: 'circular', run: async () => { const a = {}; a.self = a; JSON.stringify(a); } },
  iterate: { id: 'iterate', run: async ({ list }) => { for (const item of list) console.log(item); } },
  destructure: { id: 'destructure', run: async ({ row }) => { const { id } = row.customer; return id; } },
  string: { id: 'throw-string', run: async ({ id, kind }) => { throw kind === 'a' ? `Lock ${id} is held` : `Quota of ${id} exceeded`; } },
  object: { id: 'throw-object', run: async ({ id, code }) => { throw { code, message: `Item ${id} cannot be moved`, detail: { id, at: Date.now() } }; } },
  body: { id: 'throw-body', run: async ({ id, status }) => { throw { status, requestId: id, error: { type: 'invalid_request', param: 'email' } }; } },
  empty: { id: 'throw-empty', run: async () => { throw new Error(); } },
  nothing: { id: 'throw-undefined', run: async () => { throw undefined; } },
  multi: { id: 'multi-line', run: async ({ rows }) => { throw new Error(`Import failed:\n${rows.map((row) => `  - row ${row.n}: "${row.value}" is not a number`).join('\n')}`); } },
  at: { id: 'message-with-at', run: async ({ who }) => { throw new Error(`Meeting of ${who} is moved\n    at Tuesday (room ${who.length}:1:2)`); } },
};

export const bugs = [
  { label: 'report missing', task: t.report, payload: (d) => ({ path: d.path() }) },
  { label: 'report is a folder', task: t.report, payload: (d) => ({ path: d.pick(['/usr', '/var/lib', '/etc']) }) },
  { label: 'template missing', task: t.template, payload: (d) => ({ path: `/app/templates/${d.word()}-${d.int(1, 40)}.html` }) },
  { label: 'folder exists', task: t.mkdir, payload: (d) => ({ path: d.pick(['/usr', '/var/lib', '/etc', '/tmp']) }) },
  { label: 'payload cut', task: t.payload, payload: (d) => ({ text: `{"id": "${d.uuid()}", "name": "${d.person()}"`.slice(0, d.int(20, 50)) }) },
  { label: 'payload html', task: t.payload, payload: (d) => ({ text: `<html><body>${d.person()}</body></html>` }) },
  { label: 'settings html', task: t.settings, payload: (d) => ({ text: `<!doctype html><title>${d.word()}</title>` }) },
  { label: 'payload empty', task: t.payload, payload: () => ({ text: '' }) },
  { label: 'dial refused', task: t.dial, payload: (d) => ({ host: `127.${d.int(0, 255)}.${d.int(0, 255)}.${d.int(1, 250)}`, port: d.int(39000, 39900) }) },
  { label: 'dial not found', task: t.dial, payload: (d) => ({ host: `${d.word()}-${d.int(1, 99)}.invalid`, port: d.int(39000, 39900) }) },
  { label: 'tls to plain port', task: t.tls, payload: () => ({}) },
  { label: 'lookup not found', task: t.dns, payload: (d) => ({ host: `${d.word()}${d.int(1, 99)}.invalid` }) },
  { label: 'totals no price', task: t.totals, payload: (d) => ({ order: { id: d.uuid(), lines: [{ sku: d.sku() }] } }) },
  { label: 'totals no lines', task: t.totals, payload: (d) => ({ order: { id: d.uuid() } }) },
  { label: 'no address', task: t.address, payload: (d) => ({ user: { name: d.person() } }) },
  { label: 'no street', task: t.address, payload: (d) => ({ user: { name: d.person(), address: {} } }) },
  { label: 'not a function', task: t.discount, payload: (d) => ({ cart: { id: d.uuid() } }) },
  { label: 'recursion', task: t.walk, payload: () => ({}) },
  { label: 'assert total', task: t.assertion, payload: (d) => ({ rule: 'total', cart: { total: d.int(1, 999), expected: d.int(1000, 9999) } }) },
  { label: 'assert lines', task: t.assertion, payload: (d) => ({ rule: 'lines', cart: { lines: [{ sku: d.sku(), n: d.int(1, 9) }], wanted: [{ sku: d.sku(), n: 0 }] } }) },
  { label: 'assert message', task: t.assertion, payload: (d) => ({ rule: 'ok', cart: { id: d.int(1000, 99999), total: 5 } }) },
  { label: 'bad gzip', task: t.gunzip, payload: (d) => ({ text: d.alnum(40) }) },
  { label: 'exit code 2', task: t.exec, payload: () => ({ code: 2 }) },
  { label: 'exit code 7', task: t.exec, payload: () => ({ code: 7 }) },
  { label: 'tool missing', task: t.missingTool, payload: (d) => ({ name: d.pick(['v1.2.3', 'v2.0.0', 'v3.14.1']) }) },
  { label: 'script syntax', task: t.vm, payload: (d) => ({ source: `const total = ${d.int(1, 99)};\nreturn total +;` }) },
  { label: 'script reference', task: t.vm, payload: (d) => ({ source: `const total = ${d.int(1, 99)};\nmissingThing(total)` }) },
  { label: 'plugin missing', task: t.module, payload: () => ({ name: 'left-pad-plugin' }) },
  { label: 'bad decrypt', task: t.decipher, payload: (d) => ({ key: d.hex(16) }) },
  { label: 'bad key', task: t.key, payload: (d) => ({ text: d.hex(64) }) },
  { label: 'bad url', task: t.url, payload: (d) => ({ text: `${d.word()}/${d.int(1, 99)}` }) },
  { label: 'bad argument', task: t.argument, payload: (d) => ({ value: d.int(1, 9999) }) },
  { label: 'out of range', task: t.range, payload: (d) => ({ value: d.int(5, 9999) }) },
  { label: 'bad date', task: t.date, payload: (d) => ({ value: d.word() }) },
  { label: 'bad bigint', task: t.bigint, payload: (d) => ({ value: d.word() + d.int(1, 9) }) },
  { label: 'circular', task: t.json, payload: () => ({}) },
  { label: 'not iterable', task: t.iterate, payload: (d) => ({ list: d.int(1, 9) }) },
  { label: 'destructure', task: t.destructure, payload: () => ({ row: {} }) },
  { label: 'string lock', task: t.string, payload: (d) => ({ id: d.id('lock'), kind: 'a' }) },
  { label: 'string quota', task: t.string, payload: (d) => ({ id: d.id('tenant'), kind: 'b' }) },
  { label: 'object E_MOVE', task: t.object, payload: (d) => ({ id: d.int(100, 9999), code: 'E_MOVE' }) },
  { label: 'object E_LOCKED', task: t.object, payload: (d) => ({ id: d.int(100, 9999), code: 'E_LOCKED' }) },
  { label: 'body 400', task: t.body, payload: (d) => ({ id: d.uuid(), status: 400 }) },
  { label: 'body 409', task: t.body, payload: (d) => ({ id: d.uuid(), status: 409 }) },
  { label: 'empty message', task: t.empty, payload: () => ({}) },
  { label: 'undefined', task: t.nothing, payload: () => ({}) },
  { label: 'multi-line list', task: t.multi, payload: (d) => ({ rows: Array.from({ length: d.int(1, 4) }, () => ({ n: d.int(1, 999), value: d.word() })) }) },
  { label: 'message that looks like a frame', task: t.at, payload: (d) => ({ who: d.person() }) },
];
