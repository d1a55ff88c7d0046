import { randomInt } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { EventEmitter } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { brotliDecompressSync } from 'node:zlib';
import { webcrypto } from 'node:crypto';

export class ClinicError extends Error {
  static code = 'CLINIC';
  constructor(message, extra = {}) {
    super(message, extra);
    Object.assign(this, { name: new.target.name, ...extra });
  }
}
export class BookingConflict extends ClinicError {}
export class MissingConsent extends ClinicError {}
export class LabFailure extends ClinicError {}

const notFound = (what, id) => new ClinicError(`${what} ${id} not found`);
const createHttpError = (status, text) => Object.assign(new Error(`${status} ${text}`), { status });

function createSchedule(rooms) {
  const taken = new Map();
  const find = (room) => {
    if (!rooms.includes(room)) throw notFound('Room', room);
    return room;
  };
  return {
    book(room, slot, patient) {
      find(room);
      const key = `${room}@${slot}`;
      if (taken.has(key)) throw new BookingConflict(`Room ${room} is already booked at ${slot} by ${taken.get(key)}`);
      taken.set(key, patient);
    },
    cancel(room, slot) {
      find(room);
      if (!taken.delete(`${room}@${slot}`)) throw new BookingConflict(`Nothing is booked in room ${room} at ${slot}`);
    },
  };
}

function Dose(drug, amount) {
  this.drug = drug;
  this.amount = amount;
}
Dose.prototype.verify = function verify(limit) {
  if (this.amount > limit) throw new RangeError(`Dose of ${this.amount} mg ${this.drug} exceeds ${limit} mg`);
  if (this.amount <= 0) throw new RangeError(`Dose must be positive: ${this.amount}`);
};

const lab = {
  async analyse(sample) {
    await Promise.resolve();
    const values = sample.values.map((value) => {
      if (Number.isNaN(value)) throw new LabFailure(`Sample ${sample.id}: value ${sample.values.indexOf(value)} is not a number`);
      return value;
    });
    if (values.length < 3) throw new LabFailure(`Sample ${sample.id} has only ${values.length} of 3 values`);
  },
  async report({ sample, doctor }) {
    if (!doctor) throw new MissingConsent(`No doctor signed sample ${sample.id} (taken ${sample.taken})`);
    throw new LabFailure(`Report for Dr. ${doctor} could not be printed: tray ${sample.tray} is empty`);
  },
};

const consents = {
  require(patient, kind) {
    if (!patient.consents?.includes(kind)) throw new MissingConsent(`Patient ${patient.id} gave no consent for ${kind}`);
  },
};

async function* visits(patients) {
  for (const patient of patients) {
    await null;
    if (patient.visits > 5) throw new ClinicError(`Patient ${patient.id} has ${patient.visits} visits this month`);
    yield patient;
  }
}

async function countVisits(patients) {
  let sum = 0;
  for await (const patient of visits(patients)) sum += patient.visits;
  return sum;
}

async function inWorker(id) {
  const worker = new Worker(`throw new Error('Scan ' + require('worker_threads').workerData + ' is corrupt')`, { eval: true, workerData: id });
  await new Promise((resolve, reject) => worker.on('error', reject).on('exit', resolve));
}

class Pump extends EventEmitter {
  tick(pressure) {
    if (pressure > 9) this.emit('error', new ClinicError(`Pump pressure ${pressure} bar`));
  }
}

function parseHl7(message) {
  const [head, ...segments] = message.split('|');
  if (head !== 'MSH') throw new SyntaxError(`HL7: expected MSH but found ${head}`);
  if (segments.length < 2) throw new SyntaxError(`HL7: message ${segments[0]} has too few segments`);
  const patient = segments.find((segment) => segment.startsWith('PID'));
  return patient.slice(4).trim();
}

async function retrying(times, work) {
  const failures = [];
  for (let attempt = 1; attempt <= times; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      failures.push(error);
    }
  }
  throw new AggregateError(failures, `Gave up after ${times} attempts`);
}

async function portTaken() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await new Promise((resolve, reject) => createServer().on('error', reject).listen(server.address().port, '127.0.0.1', resolve));
  } finally {
    server.close();
  }
}

async function importKey(bytes) {
  await webcrypto.subtle.importKey('raw', new Uint8Array(bytes), 'AES-GCM', false, ['encrypt']);
}

const legacy = {
  save(record, done) {
    setImmediate(() => done(record.ok ? null : Object.assign(new Error(`Record ${record.id} rejected by host ${record.host}`), { code: 'REJECTED' })));
  },
};
const save = (record) => new Promise((resolve, reject) => legacy.save(record, (error) => (error ? reject(error) : resolve())));

const unwrap = (result) => {
  if (!result.ok) throw createHttpError(result.status, result.reason);
  return result.value;
};
async function loadChart(result) {
  return unwrap(result);
}
async function loadImage(result) {
  return unwrap(result);
}

export const t = {
  booking: { id: 'booking', run: async ({ verb, room, slot, patient, twice }) => { const schedule = createSchedule(['A1', 'B2', 'C3']); if (twice) schedule.book(room, slot, patient); schedule[verb](room, slot, patient); } },
  dose: { id: 'dose', run: async ({ drug, amount, limit }) => { new Dose(drug, amount).verify(limit); } },
  lab: { id: 'lab', run: async ({ verb, input }) => { await lab[verb](input); } },
  consent: { id: 'consent', run: async ({ patient, kind }) => consents.require(patient, kind) },
  visits: { id: 'visits', run: async ({ patients }) => { await countVisits(patients); } },
  scan: { id: 'scan', run: async ({ id }) => { await inWorker(id); } },
  pump: { id: 'pump', run: async ({ pressure }) => { new Pump().tick(pressure); } },
  hl7: { id: 'hl7', run: async ({ message }) => { parseHl7(message); } },
  retry: { id: 'retry', run: async ({ times, id }) => { await retrying(times, async () => { throw new LabFailure(`Analyser ${id} is offline`); }); } },
  port: { id: 'port', run: async () => { await portTaken(); } },
  key: { id: 'key', run: async ({ bytes }) => { await importKey(bytes); } },
  save: { id: 'save', run: async ({ record }) => { await save(record); } },
  chart: { id: 'documents', run: async ({ result }) => { await loadChart(result); } },
  image: { id: 'documents', run: async ({ result }) => { await loadImage(result); } },
  folder: { id: 'folder', run: async ({ verb, path }) => { if (verb === 'list') await readdir(path); else await writeFile(path, 'x'); } },
  brotli: { id: 'brotli', run: async ({ text }) => { brotliDecompressSync(Buffer.from(text)); } },
  random: { id: 'random', run: async ({ low, high }) => { randomInt(high, low); } },
  say: { id: 'say', run: async ({ text, name }) => { const error = new Error(text); if (name) error.name = name; throw error; } },
  bare: { id: 'bare', run: async ({ value }) => { throw value; } },
};

const say = (label, make, name) => ({ label: `says ${label}`, task: t.say, payload: (d) => ({ text: make(d), name }) });

export const bugs = [
  { label: 'no such room', task: t.booking, payload: (d) => ({ verb: 'book', room: `Z${d.int(1, 9)}`, slot: d.iso(), patient: 'x' }) },
  { label: 'room booked', task: t.booking, payload: (d) => ({ verb: 'book', room: d.pick(['A1', 'B2', 'C3']), slot: d.iso(), patient: d.person(), twice: true }) },
  { label: 'nothing booked', task: t.booking, payload: (d) => ({ verb: 'cancel', room: d.pick(['A1', 'B2', 'C3']), slot: d.iso() }) },
  { label: 'dose too large', task: t.dose, payload: (d) => ({ drug: d.pick(['ibuprofen', 'paracetamol', 'aspirin']), amount: d.int(500, 900), limit: d.int(100, 400) }) },
  { label: 'dose not positive', task: t.dose, payload: (d) => ({ drug: 'x', amount: -d.int(0, 9), limit: 5 }) },
  { label: 'lab not a number', task: t.lab, payload: (d) => ({ verb: 'analyse', input: { id: d.id('smp'), values: [1, 2, NaN] } }) },
  { label: 'lab too few', task: t.lab, payload: (d) => ({ verb: 'analyse', input: { id: d.id('smp'), values: d.coin() ? [1] : [1, 2] } }) },
  { label: 'lab no values', task: t.lab, payload: (d) => ({ verb: 'analyse', input: { id: d.id('smp') } }) },
  { label: 'lab unsigned', task: t.lab, payload: (d) => ({ verb: 'report', input: { sample: { id: d.id('smp'), taken: d.date() } } }) },
  { label: 'lab tray', task: t.lab, payload: (d) => ({ verb: 'report', input: { sample: { tray: d.int(1, 4) }, doctor: d.person() } }) },
  { label: 'consent surgery', task: t.consent, payload: (d) => ({ patient: { id: d.uuid() }, kind: 'surgery' }) },
  { label: 'consent research', task: t.consent, payload: (d) => ({ patient: { id: d.uuid() }, kind: 'research' }) },
  { label: 'too many visits', task: t.visits, payload: (d) => ({ patients: [{ id: d.int(1, 9999), visits: d.int(6, 40) }] }) },
  { label: 'scan', task: t.scan, payload: (d) => ({ id: d.hex(10) }) },
  { label: 'pump', task: t.pump, payload: (d) => ({ pressure: Number(d.float(10, 20, 1)) }) },
  { label: 'hl7 head', task: t.hl7, payload: (d) => ({ message: `${d.pick(['EVT', 'XYZ', 'OBX'])}|a` }) },
  { label: 'hl7 short', task: t.hl7, payload: (d) => ({ message: `MSH|${d.int(1, 99999)}` }) },
  { label: 'hl7 no patient', task: t.hl7, payload: (d) => ({ message: `MSH|${d.int(1, 99999)}|a|b` }) },
  { label: 'gave up', inspected: true, task: t.retry, payload: (d) => ({ times: d.int(2, 5), id: d.alnum(8) }) },
  { label: 'port taken', task: t.port, payload: () => ({}) },
  { label: 'key length', task: t.key, payload: (d) => ({ bytes: Array.from({ length: d.int(1, 9) }, () => 1) }) },
  { label: 'save rejected', task: t.save, payload: (d) => ({ record: { id: d.id('rec'), host: d.host() } }) },
  { label: 'chart 403', task: t.chart, payload: () => ({ result: { status: 403, reason: 'Forbidden' } }) },
  { label: 'chart 409', task: t.chart, payload: () => ({ result: { status: 409, reason: 'Conflict' } }) },
  { label: 'image 403', task: t.image, payload: () => ({ result: { status: 403, reason: 'Forbidden' } }) },
  { label: 'folder missing', task: t.folder, payload: (d) => ({ verb: 'list', path: d.path() }) },
  { label: 'folder write', task: t.folder, payload: (d) => ({ verb: 'write', path: d.path() }) },
  { label: 'brotli', task: t.brotli, payload: (d) => ({ text: d.alnum(30) }) },
  { label: 'random range', task: t.random, payload: (d) => ({ low: d.int(1, 50), high: d.int(60, 900) }) },
  { label: 'thrown plain', task: t.bare, payload: (d) => ({ value: `Ward ${d.int(1, 30)} is full` }) },
  { label: 'thrown array', task: t.bare, payload: (d) => ({ value: [{ field: 'weight', message: `too heavy: ${d.int(100, 200)}` }] }) },
  { label: 'thrown array other', task: t.bare, payload: (d) => ({ value: [{ field: 'height', message: `too tall: ${d.int(100, 200)}` }] }) },
  { label: 'thrown response', task: t.bare, payload: (d) => ({ value: { statusCode: 422, error: 'Unprocessable Entity', id: d.uuid() } }) },
  { label: 'thrown response other', task: t.bare, payload: (d) => ({ value: { statusCode: 503, error: 'Service Unavailable', id: d.uuid() } }) },
  say('ward', (d) => `Ward ${d.pick(['A', 'B', 'C'])}-${d.int(1, 40)} has no free bed for ${d.person()} (born ${d.date()})`),
  say('invoice', (d) => `Insurer rejected invoice ${d.int(2020, 2026)}/${d.int(1, 12)}/${d.int(100, 9999)}: amount ${d.float(10, 900)} PLN differs from ${d.float(10, 900)} PLN`),
  say('mail', (d) => `Could not deliver reminder to <${d.email()}>: 550 mailbox unavailable`),
  say('mail greylisted', (d) => `Could not deliver reminder to <${d.email()}>: 451 try again later`),
  say('cert', (d) => `Certificate of ${d.host()} expired ${d.int(1, 90)} days ago`),
  say('queue', (d) => `Message ${d.uuid()} was delivered ${d.int(3, 9)} times, giving up`),
  say('disk', (d) => `No space left on /dev/sd${d.pick(['a', 'b', 'c'])}${d.int(1, 4)}: ${d.int(95, 100)}% used`),
  say('json path', (d) => `patients[${d.int(0, 99)}].address.zip must be a string`),
  say('json path other', (d) => `patients[${d.int(0, 99)}].address.city must be a string`),
  say('graphql', (d) => `Variable "$input" got invalid value ${d.int(1, 9)} at "input.weight"; Float cannot represent "${d.word()}"`),
  say('grpc', (d) => `14 UNAVAILABLE: No connection established. Last error: connect ECONNREFUSED ${d.ip()}:50051 (${d.iso()})`),
  say('grpc deadline', (d) => `4 DEADLINE_EXCEEDED: Deadline exceeded after ${d.float(1, 9, 3)}s, remote_addr=${d.ip()}:443`),
  say('lambda', (d) => `RequestId: ${d.uuid()} Error: Task timed out after ${d.float(1, 30)} seconds`),
  say('k8s', (d) => `Pod worker-${d.hex(9)}-${d.alnum(5)} was evicted: node ip-10-${d.int(0, 255)}-${d.int(0, 255)}-7 low on memory`),
  say('semver', (d) => `Device firmware v${d.int(1, 9)}.${d.int(0, 20)}.${d.int(0, 9)} is older than ${d.int(2, 9)}.${d.int(0, 9)}`),
  say('sql', (d) => `Query took ${d.int(1000, 9999)}ms: SELECT * FROM visits WHERE patient_id = ${d.int(1, 9999)} AND day > '${d.date()}'`),
  say('percent', (d) => `Only ${d.int(1, 99)}% of ${d.int(100, 9000)} rows matched (threshold ${d.int(90, 99)}%)`),
  say('name set', (d) => `Quota ${d.int(1, 99)}/${d.int(100, 199)} used`, 'QuotaError'),
  say('name set other', (d) => `Quota ${d.int(1, 99)}/${d.int(100, 199)} used`, 'LimitError'),
  say('s3 uri', (d) => `Cannot read s3://clinic-${d.word()}/scans/${d.uuid()}.dcm: access denied`),
  say('quoted words', (d) => `Medicine '${d.pick(['Blue Pill', 'Red Syrup', 'Aspirin C'])}' is not in stock at pharmacy '${d.city()}'`),
  say('colon value', (d) => `Unsupported media type: ${d.pick(['image/tiff', 'video/x-msvideo', 'application/x-foo'])}`),
  say('code kept', () => 'Insurer answered code PAT_UNKNOWN'),
  say('code kept other', () => 'Insurer answered code PAT_EXPIRED'),
  say('hours', (d) => `Clinic is closed between ${d.int(18, 23)}:00 and ${d.int(5, 8)}:30`),
];
