import assert from 'node:assert/strict';
import { once, EventEmitter } from 'node:events';
import { createReadStream, existsSync, renameSync, rmdirSync } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Transform } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { exec } from 'node:child_process';

const sh = promisify(exec);

class DomainError extends Error {
  constructor(code, message, details) {
    super(message);
    this.code = code;
    this.details = details;
  }

  get name() {
    return this.constructor.name;
  }
}
class CapacityError extends DomainError {}
class RouteError extends DomainError {}

function invariant(condition, message) {
  if (!condition) throw new Error(`Invariant violation: ${message}`);
}

class Truck {
  #load = 0;

  constructor(plate, limit) {
    this.plate = plate;
    this.limit = limit;
  }

  load(weight) {
    if (this.#load + weight > this.limit) throw new CapacityError('OVERLOAD', `Truck ${this.plate} cannot take ${weight} kg (limit ${this.limit} kg)`);
    this.#load += weight;
  }

  #check(driver) {
    if (!driver.licence) throw new DomainError('NO_LICENCE', `Driver ${driver.name} has no licence`);
    if (driver.hours > 9) throw new DomainError('HOURS', `Driver ${driver.name} has driven ${driver.hours} hours`);
  }

  assign(driver) {
    this.#check(driver);
  }
}

class Van extends Truck {
  load(weight) {
    if (weight > 800) throw new CapacityError('OVERLOAD', `Truck ${this.plate} cannot take ${weight} kg (limit 800 kg)`);
    super.load(weight);
  }
}

const planner = {
  route(from, to) {
    if (from === to) throw new RouteError('SAME', `Route from ${from} to ${to} is empty`);
    throw new RouteError('NONE', `No route between depot ${from} and depot ${to} before ${new Date(from.length * 1e12).toISOString()}`);
  },
  async reserve(slot) {
    await wait(1);
    invariant(slot.free > 0, `slot ${slot.id} has no room`);
  },
  async release(slot) {
    await wait(1);
    invariant(slot.taken, `slot ${slot.id} was never taken`);
  },
};

function parseRow(row, number) {
  const [sku, count] = row.split(';');
  if (!sku) throw new Error(`Line ${number}: missing SKU`);
  if (!/^\d+$/.test(count)) throw new Error(`Line ${number}: "${count}" is not a valid quantity`);
}

function importCsv(text) {
  text.split('\n').forEach((row, index) => parseRow(row, index + 1));
}

async function copyThrough(path) {
  await pipeline(createReadStream(path), new Transform({ transform: (chunk, _encoding, done) => done(null, chunk) }), async (source) => { for await (const _ of source); });
}

async function transformFailing(id) {
  const stream = new Transform({ transform: (_chunk, _encoding, done) => done(new Error(`Cannot transcode clip ${id}`)) });
  stream.end('x');
  await pipeline(stream, async (source) => { for await (const _ of source); });
}

async function viaEvent(id) {
  const bus = new EventEmitter();
  setTimeout(() => bus.emit('error', new Error(`Sensor ${id} disconnected`)), 1);
  await once(bus, 'ready');
}

async function firstQuote(ids) {
  return await Promise.any(ids.map(async (id) => { await wait(1); throw new Error(`Carrier ${id} gave no quote`); }));
}

async function viaCallback(id) {
  await new Promise((_resolve, reject) => process.nextTick(() => reject(new RouteError('GONE', `Stop ${id} was removed from the route`))));
}

async function wrapped(id, inner) {
  try {
    await inner();
  } catch (error) {
    throw new Error(`Dispatch of ${id} failed`, { cause: error });
  }
}

const dispatch = {
  smtp: async (id) => await wrapped(id, async () => { throw new DomainError('SMTP', `Mailbox unavailable: ${id}@mail.test`); }),
  sms: async (id) => await wrapped(id, async () => { throw new DomainError('SMS', `No carrier for +48 600 ${id.length}00 10${id.length}`); }),
};

export const tasks = {
  truck: { id: 'load-truck', run: async ({ plate, limit, weight, van }) => { (van ? new Van(plate, limit) : new Truck(plate, limit)).load(weight); } },
  driver: { id: 'assign-driver', run: async ({ driver }) => { new Truck('x', 1).assign(driver); } },
  route: { id: 'plan-route', run: async ({ from, to }) => { planner.route(from, to); } },
  slots: { id: 'slots', run: async ({ verb, slot }) => { await planner[verb](slot); } },
  csv: { id: 'import-csv', run: async ({ text }) => importCsv(text) },
  copy: { id: 'copy-file', run: async ({ path }) => { await copyThrough(path); } },
  clip: { id: 'transcode', run: async ({ id }) => { await transformFailing(id); } },
  sensor: { id: 'sensor', run: async ({ id }) => { await viaEvent(id); } },
  quote: { id: 'first-quote', run: async ({ ids }) => { await firstQuote(ids); } },
  stop: { id: 'remove-stop', run: async ({ id }) => { await viaCallback(id); } },
  dispatch: { id: 'dispatch', run: async ({ kind, id }) => { await dispatch[kind](id); } },
  files: {
    id: 'files',
    run: async ({ verb, path }) => {
      if (verb === 'stat') await stat(path);
      if (verb === 'open') await open(path, 'r+');
      if (verb === 'rename') renameSync(path, `${path}.old`);
      if (verb === 'rmdir') rmdirSync(path);
      if (verb === 'rm') await rm(path);
      if (verb === 'require' && !existsSync(path)) throw new Error(`Manifest file ${path} is missing`);
    },
  },
  shell: { id: 'shell', run: async ({ command }) => { await sh(command); } },
  check: {
    id: 'check',
    run: async ({ kind, a, b }) => {
      if (kind === 'equal') assert.equal(a, b);
      if (kind === 'match') assert.match(a, /^[0-9]+$/);
      if (kind === 'ok') assert.ok(a === b, 'totals differ');
      if (kind === 'custom') assert.equal(a, b, `Expected ${b} pallets, counted ${a}`);
    },
  },
  oddities: {
    id: 'oddities',
    run: async ({ kind, value }) => {
      if (kind === 'reduce') return [].reduce((sum, item) => sum + item);
      if (kind === 'length') return new Array(value);
      if (kind === 'repeat') return 'x'.repeat(value);
      if (kind === 'const') { const frozen = Object.freeze({ a: 1 }); frozen.a = value; }
      if (kind === 'null') return value.first.second;
      if (kind === 'set') value.total.net = 1;
      if (kind === 'in') return 'a' in value;
      if (kind === 'class') return new (class extends value {})();
      if (kind === 'spread') return Math.max(...value);
      if (kind === 'symbol') return `${Symbol(value)}`;
      if (kind === 'regexp') return new RegExp(value);
      if (kind === 'uri') return decodeURIComponent(value);
      if (kind === 'intl') return new Intl.NumberFormat('en', { style: 'currency', currency: value });
      if (kind === 'tz') return new Date().toLocaleString('en', { timeZone: value });
      if (kind === 'clone') return structuredClone({ f: () => value });
      if (kind === 'number') throw value;
      if (kind === 'null-thrown') throw null;
      if (kind === 'nested') throw { errors: [{ path: ['lines', value, 'qty'], message: `Quantity ${value} is too high` }], requestId: `r${value}` };
      if (kind === 'tagged') throw { type: 'quota_exceeded', tenant: value, limit: 10 };
      return undefined;
    },
  },
  texts: {
    id: 'texts',
    run: async ({ text }) => { throw new Error(text); },
  },
};

const text = (label, make) => ({ label: `text: ${label}`, task: tasks.texts, payload: (d) => ({ text: make(d) }) });
const odd = (label, kind, value) => ({ label: `odd: ${label}`, task: tasks.oddities, payload: (d) => ({ kind, value: value(d) }) });

export const bugs = [
  { label: 'truck overloaded', task: tasks.truck, payload: (d) => ({ plate: `${d.pick(['WA', 'KR', 'GD'])} ${d.int(10000, 99999)}`, limit: d.int(100, 900), weight: d.int(1000, 9000) }) },
  { label: 'van overloaded', task: tasks.truck, payload: (d) => ({ van: true, plate: `${d.pick(['WA', 'KR', 'GD'])} ${d.int(10000, 99999)}`, limit: 700, weight: d.int(1000, 9000) }) },
  { label: 'driver no licence', task: tasks.driver, payload: (d) => ({ driver: { name: d.person() } }) },
  { label: 'driver hours', task: tasks.driver, payload: (d) => ({ driver: { name: d.person(), licence: 1, hours: d.int(10, 20) } }) },
  { label: 'route empty', task: tasks.route, payload: (d) => { const city = d.city(); return { from: city, to: city }; } },
  { label: 'route none', task: tasks.route, payload: (d) => ({ from: d.id('dep'), to: d.id('dep') }) },
  { label: 'slot full', task: tasks.slots, payload: (d) => ({ verb: 'reserve', slot: { id: d.int(1, 500), free: 0 } }) },
  { label: 'slot never taken', task: tasks.slots, payload: (d) => ({ verb: 'release', slot: { id: d.int(1, 500) } }) },
  { label: 'csv quantity', task: tasks.csv, payload: (d) => ({ text: `${'a;1\n'.repeat(d.int(0, 5))}${d.sku()};${d.word()}` }) },
  { label: 'csv sku', task: tasks.csv, payload: (d) => ({ text: `${'a;1\n'.repeat(d.int(0, 5))};${d.int(1, 9)}` }) },
  { label: 'copy missing', task: tasks.copy, payload: (d) => ({ path: d.path() }) },
  { label: 'clip', task: tasks.clip, payload: (d) => ({ id: d.uuid() }) },
  { label: 'sensor', task: tasks.sensor, payload: (d) => ({ id: d.hex(12) }) },
  { label: 'no quote', task: tasks.quote, inspected: true, payload: (d) => ({ ids: Array.from({ length: d.int(2, 4) }, () => d.id('car')) }) },
  { label: 'stop removed', task: tasks.stop, payload: (d) => ({ id: d.int(1, 99) }) },
  { label: 'dispatch smtp', inspected: true, task: tasks.dispatch, payload: (d) => ({ kind: 'smtp', id: d.alnum(9) }) },
  { label: 'dispatch sms', inspected: true, task: tasks.dispatch, payload: (d) => ({ kind: 'sms', id: d.alnum(9) }) },
  { label: 'stat', task: tasks.files, payload: (d) => ({ verb: 'stat', path: d.path() }) },
  { label: 'open', task: tasks.files, payload: (d) => ({ verb: 'open', path: d.path() }) },
  { label: 'rename', task: tasks.files, payload: (d) => ({ verb: 'rename', path: d.path() }) },
  { label: 'rmdir not empty', task: tasks.files, payload: (d) => ({ verb: 'rmdir', path: d.pick(['/usr', '/var', '/etc']) }) },
  { label: 'rm folder', task: tasks.files, payload: (d) => ({ verb: 'rm', path: d.pick(['/usr', '/var', '/etc']) }) },
  { label: 'manifest file missing', task: tasks.files, payload: (d) => ({ verb: 'require', path: d.path() }) },
  { label: 'shell ls', task: tasks.shell, payload: (d) => ({ command: `ls ${d.path()}` }) },
  { label: 'shell grep', task: tasks.shell, payload: (d) => ({ command: `grep -q ${d.alnum(8)} /etc/hostname` }) },
  { label: 'assert equal', task: tasks.check, payload: (d) => ({ kind: 'equal', a: d.int(1, 99), b: 1000 }) },
  { label: 'assert match', task: tasks.check, payload: (d) => ({ kind: 'match', a: d.word() }) },
  { label: 'assert ok', task: tasks.check, payload: (d) => ({ kind: 'ok', a: d.int(1, 99), b: 1000 }) },
  { label: 'assert custom', task: tasks.check, payload: (d) => ({ kind: 'custom', a: d.int(1, 99), b: d.int(100, 999) }) },
  odd('reduce', 'reduce', () => 1),
  odd('array length', 'length', (d) => -d.int(1, 99)),
  odd('repeat', 'repeat', (d) => -d.int(1, 99)),
  odd('frozen', 'const', (d) => d.int(1, 99)),
  odd('null first', 'null', () => null),
  odd('undefined second', 'null', () => ({})),
  odd('set net', 'set', () => ({})),
  odd('in operator', 'in', (d) => d.word()),
  odd('extends', 'class', (d) => d.int(1, 9)),
  odd('spread', 'spread', (d) => d.int(1, 9)),
  odd('symbol', 'symbol', (d) => d.word()),
  odd('regexp', 'regexp', (d) => `(${d.word()}`),
  odd('uri', 'uri', (d) => `%E0%A4%${d.int(10, 99)}%Z`),
  odd('intl currency', 'intl', (d) => `${d.word()}!`),
  odd('time zone', 'tz', (d) => `Mars/${d.word()}`),
  odd('clone', 'clone', (d) => d.int(1, 9)),
  odd('number thrown', 'number', (d) => d.int(1000, 99999)),
  odd('null thrown', 'null-thrown', () => 1),
  odd('nested object thrown', 'nested', (d) => d.int(1, 900)),
  odd('tagged object thrown', 'tagged', (d) => d.word()),
  text('upload too large', (d) => `Upload of ${d.word()}-${d.int(1, 9)}.zip rejected: ${d.float(1, 90, 1)} MB is over the ${d.int(1, 9)} MB limit`),
  text('upload type', (d) => `Upload of ${d.word()}-${d.int(1, 9)}.zip rejected: type not allowed`),
  text('retry', (d) => `Attempt ${d.int(1, 5)}/5 to reach ${d.host()} failed after ${d.float(0, 9)}s`),
  text('session', (d) => `Session ${d.hex(32)} of ${d.email()} expired at ${d.iso()}`),
  text('price', (d) => `Price ${d.pick(['$', '€', '£'])}${d.float(1, 9999)} for "${d.person()}" differs from ${d.float(1, 999)} ${d.pick(['USD', 'EUR'])}`),
  text('missing env A', () => 'Missing environment variable CARRIER_TOKEN'),
  text('missing env B', () => 'Missing environment variable LABEL_BUCKET'),
  text('field weight', (d) => `Parcel ${d.id('par')}: field "weight" must be positive, got ${-d.int(1, 99)}`),
  text('field height', (d) => `Parcel ${d.id('par')}: field "height" must be positive, got ${-d.int(1, 99)}`),
  text('url 502', (d) => `GET https://${d.host()}/v2/rates/${d.int(1, 999)}?zip=${d.int(10000, 99999)} answered 502 Bad Gateway in ${d.int(10, 900)}ms`),
  text('url 504', (d) => `GET https://${d.host()}/v2/rates/${d.int(1, 999)}?zip=${d.int(10000, 99999)} answered 504 Gateway Timeout in ${d.int(10, 900)}ms`),
  text('exit 137', (d) => `Container ${d.hex(12)} exited with code 137 after ${d.int(1, 900)}s`),
  text('exit 1', (d) => `Container ${d.hex(12)} exited with code 1 after ${d.int(1, 900)}s`),
  text('quoted name', (d) => `Warehouse "${d.city()}" has ${d.int(0, 9)} free bays, ${d.int(10, 99)} needed`),
  text('tracking', (d) => `Tracking number ${d.pick(['1Z', 'RR', 'JD'])}${d.int(100000000, 999999999)}${d.pick(['PL', 'DE', ''])} is unknown`),
  text('phone', (d) => `Cannot text +${d.int(10, 99)} ${d.int(100, 999)} ${d.int(100, 999)} ${d.int(100, 999)}: number is blocked`),
  text('date range', (d) => `Period ${d.date()} - ${d.date()} overlaps with booking #${d.int(1, 9999)}`),
  text('list of ids', (d) => `Unknown parcels: ${Array.from({ length: d.int(1, 4) }, () => d.id('par')).join(', ')}`),
  text('plural', (d) => { const n = d.int(1, 3); return `${n} ${n === 1 ? 'pallet is' : 'pallets are'} missing from bay ${d.pick(['A', 'B', 'C'])}${d.int(1, 40)}`; }),
  text('json body', (d) => `Carrier said: ${JSON.stringify({ code: 'NO_CAPACITY', ref: d.uuid(), eta: d.date() })}`),
  text('json body other', (d) => `Carrier said: ${JSON.stringify({ code: 'BAD_ADDRESS', ref: d.uuid(), eta: d.date() })}`),
  text('lock', (d) => `Could not obtain lock depot:${d.int(1, 99)}:inventory within ${d.int(1, 30)} seconds`),
  text('memory', (d) => `Heap used ${d.int(100, 900)} MB of ${d.pick(['1 GB', '2 GB', '512 MB'])}`),
  text('key value', (d) => `Rejected: tenant=${d.word()} plan=${d.word()} reason=over_quota`),
  text('key value other', (d) => `Rejected: tenant=${d.word()} plan=${d.word()} reason=suspended`),
  text('person', (d) => `No shift for ${d.person()} on ${d.date()}`),
];
