import Anthropic from '@anthropic-ai/sdk';
import bcrypt from 'bcryptjs';
import { parse as parseCsv } from 'csv-parse/sync';
import { execa } from 'execa';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import Joi from 'joi';
import knexOf from 'knex';
import { DateTime, Settings } from 'luxon';
import nodemailer from 'nodemailer';
import { createClient } from 'redis';
import superagent from 'superagent';
import WebSocket from 'ws';
import * as yup from 'yup';

Settings.throwOnInvalid = true;

const visit = Joi.object({ patient: Joi.string().required(), minutes: Joi.number().max(60), room: Joi.string().valid('A', 'B') });
const invoice = yup.object({ amount: yup.number().positive().required(), payer: yup.string().required() });

function checkVisit(value) {
  return Joi.attempt(value, visit);
}

async function checkInvoice(value) {
  return await invoice.validate(value);
}

async function withKnex(url, work) {
  const knex = knexOf({ client: 'pg', connection: url, pool: { min: 0, max: 1 } });
  try {
    await knex.schema.dropTableIfExists('beds');
    await knex.schema.createTable('beds', (table) => { table.integer('number').primary(); table.string('ward', 5).notNullable(); });
    return await work(knex);
  } finally {
    await knex.destroy();
  }
}

class Beds {
  constructor(knex) {
    this.knex = knex;
  }

  async add(bed) {
    await this.knex('beds').insert(bed);
  }

  async byColour(colour) {
    await this.knex('beds').where({ colour }).select('number');
  }
}

async function askModel(http, model) {
  const client = new Anthropic({ apiKey: 'k', baseURL: `${http}/status/${model}`, maxRetries: 0 });
  return await client.messages.create({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'x' }] });
}

async function fetchRecord(http, id) {
  return await superagent.get(`${http}/status/404/record/${id}`);
}

async function storeRecord(http, id, status) {
  return await superagent.put(`${http}/status/${status}/record/${id}`).send({ id });
}

async function mailTo(address, port) {
  const transport = nodemailer.createTransport({ host: '127.0.0.1', port, connectionTimeout: 500 });
  await transport.sendMail({ from: 'a@b.test', to: address, text: 'x' });
}

async function redisGet(port) {
  const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: false } });
  client.on('error', () => {});
  await client.connect();
}

async function listen(url) {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => { socket.on('open', resolve); socket.on('error', reject); });
}

function readRows(text) {
  return parseCsv(text, { columns: true });
}

function readXml(text) {
  const verdict = XMLValidator.validate(text);
  if (verdict !== true) throw new Error(`Bad XML: ${verdict.err.msg} (line ${verdict.err.line})`);
  return new XMLParser().parse(text);
}

function birthday(text) {
  return DateTime.fromISO(text);
}

async function convertImage(args) {
  await execa('ls', args);
}

async function hashPassword(password) {
  return await bcrypt.hash(password, 4);
}

export const t = {
  visit: { id: 'visit', run: async ({ value }) => checkVisit(value) },
  invoice: { id: 'invoice', run: async ({ value }) => { await checkInvoice(value); } },
  beds: { id: 'beds', run: async ({ verb, argument }, { pg }) => await withKnex(pg, async (knex) => { for (const one of [argument].flat()) await new Beds(knex)[verb](one); }) },
  model: { id: 'model', run: async ({ status }, { http }) => { await askModel(http, status); } },
  fetchRecord: { id: 'records', run: async ({ id }, { http }) => { await fetchRecord(http, id); } },
  storeRecord: { id: 'records', run: async ({ id, status }, { http }) => { await storeRecord(http, id, status); } },
  mail: { id: 'mail', run: async ({ to, port }) => { await mailTo(to, port); } },
  redis: { id: 'redis', run: async ({ port }) => { await redisGet(port); } },
  socket: { id: 'socket', run: async ({ path }, { http }) => { await listen(`${http.replace('http', 'ws')}${path}`); } },
  badSocket: { id: 'socket', run: async ({ url }) => { await listen(url); } },
  csv: { id: 'csv', run: async ({ text }) => { readRows(text); } },
  xml: { id: 'xml', run: async ({ text }) => { readXml(text); } },
  birthday: { id: 'birthday', run: async ({ text }) => { birthday(text); } },
  image: { id: 'image', run: async ({ args }) => { await convertImage(args); } },
  password: { id: 'password', run: async ({ password }) => { await hashPassword(password); } },
};

export const bugs = [
  { label: 'joi no patient', task: t.visit, payload: () => ({ value: { minutes: 5 } }) },
  { label: 'joi minutes', task: t.visit, payload: (d) => ({ value: { patient: d.person(), minutes: d.int(61, 900) } }) },
  { label: 'joi room', task: t.visit, payload: (d) => ({ value: { patient: d.person(), room: d.word() } }) },
  { label: 'yup amount', task: t.invoice, payload: (d) => ({ value: { amount: -d.int(1, 99), payer: 'x' } }) },
  { label: 'yup payer', task: t.invoice, payload: (d) => ({ value: { amount: d.int(1, 99) } }) },
  { label: 'yup amount type', task: t.invoice, payload: (d) => ({ value: { amount: d.word(), payer: 'x' } }) },
  { label: 'knex duplicate', task: t.beds, payload: (d) => { const number = d.int(1, 999); return { verb: 'add', argument: [{ number, ward: 'a' }, { number, ward: 'b' }] }; } },
  { label: 'knex no ward', task: t.beds, payload: (d) => ({ verb: 'add', argument: { number: d.int(1, 999) } }) },
  { label: 'knex ward too long', task: t.beds, payload: (d) => ({ verb: 'add', argument: { number: d.int(1, 999), ward: d.alnum(12) } }) },
  { label: 'knex no colour', task: t.beds, payload: (d) => ({ verb: 'byColour', argument: d.word() }) },
  { label: 'model 429', task: t.model, payload: () => ({ status: 429 }) },
  { label: 'model 529', task: t.model, payload: () => ({ status: 529 }) },
  { label: 'fetch record 404', task: t.fetchRecord, payload: (d) => ({ id: d.uuid() }) },
  { label: 'store record 404', task: t.storeRecord, payload: (d) => ({ id: d.uuid(), status: 404 }) },
  { label: 'store record 507', task: t.storeRecord, payload: (d) => ({ id: d.uuid(), status: 507 }) },
  { label: 'mail refused', task: t.mail, payload: (d) => ({ to: d.email(), port: d.int(39000, 39900) }) },
  { label: 'redis refused', task: t.redis, payload: (d) => ({ port: d.int(39000, 39900) }) },
  { label: 'socket 404', task: t.socket, payload: (d) => ({ path: `/live/${d.alnum(6)}` }) },
  { label: 'socket protocol', task: t.badSocket, payload: (d) => ({ url: `ftp://${d.host()}/x` }) },
  { label: 'csv columns', task: t.csv, payload: (d) => ({ text: `a,b\n${'1,2\n'.repeat(d.int(0, 6))}1,2,3` }) },
  { label: 'csv quote', task: t.csv, payload: (d) => ({ text: `a,b\n${'1,2\n'.repeat(d.int(0, 6))}1,x"${d.word()}"` }) },
  { label: 'xml tag', task: t.xml, payload: (d) => ({ text: `<visit>${'\n'.repeat(d.int(0, 9))}<a></b></visit>` }) },
  { label: 'xml attribute', task: t.xml, payload: (d) => ({ text: `<visit>${'\n'.repeat(d.int(0, 9))}<a b=c></a></visit>` }) },
  { label: 'birthday', task: t.birthday, payload: (d) => ({ text: d.word() }) },
  { label: 'image missing', task: t.image, payload: (d) => ({ args: [d.path()] }) },
  { label: 'password type', task: t.password, payload: (d) => ({ password: d.int(1, 99) }) },
];
