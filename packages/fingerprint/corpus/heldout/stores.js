import net from 'node:net';
import Redis from 'ioredis';
import { MongoClient } from 'mongodb';
import mysql from 'mysql2/promise';
import postgres from 'postgres';

/** A server that answers every line of a Redis client with one error. */
function redisAnswering(text) {
  return listening((socket) => socket.on('data', (chunk) => socket.write(`-${text}\r\n`.repeat(String(chunk).split(/^\*\d+\r$/m).length - 1))));
}

/** A server that greets a MySQL client with one error packet. */
function mysqlAnswering(code, state, text) {
  return listening((socket) => {
    const body = Buffer.concat([Buffer.from([0xff, code & 255, code >> 8]), Buffer.from(`#${state}${text}`)]);
    socket.write(Buffer.concat([Buffer.from([body.length, 0, 0, 0]), body]));
  });
}

function listening(serve) {
  return new Promise((resolve) => {
    const server = net.createServer((socket) => {
      socket.on('error', () => {});
      serve(socket);
    });
    server.listen(0, '127.0.0.1', () => resolve({ port: server.address().port, close: () => server.close() }));
  });
}

class ShipmentCache {
  constructor(port) {
    this.redis = new Redis({ host: '127.0.0.1', port, lazyConnect: true, enableReadyCheck: false, retryStrategy: () => null, maxRetriesPerRequest: 0 });
    this.redis.on('error', () => {});
  }

  async remember(id, value) {
    await this.redis.set(`shipment:${id}`, value);
  }

  async push(id, value) {
    await this.redis.lpush(`queue:${id}`, value);
  }

  async close() {
    this.redis.disconnect();
  }
}

async function withRedis(error, work) {
  const server = await redisAnswering(error);
  const cache = new ShipmentCache(server.port);
  try {
    return await work(cache);
  } finally {
    await cache.close();
    server.close();
  }
}

async function openMysql(code, state, text) {
  const server = await mysqlAnswering(code, state, text);
  try {
    await mysql.createConnection({ host: '127.0.0.1', port: server.port, user: 'app', password: 'x' });
  } finally {
    server.close();
  }
}

async function mongoPing(port) {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/fleet`, { serverSelectionTimeoutMS: 40 + (port % 50) });
  try {
    await client.db('fleet').command({ ping: 1 });
  } finally {
    await client.close();
  }
}

function badMongoUrl(text) {
  return new MongoClient(text);
}

async function withSql(url, work) {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await sql`create temp table depots (code text primary key, city text not null, slots int check (slots >= 0))`;
    return await work(sql);
  } finally {
    await sql.end();
  }
}

async function addDepot(sql, depot) {
  await sql`insert into depots ${sql(depot)}`;
}

async function moveDepot(sql, depot) {
  await sql`update depots set location = ${depot.city} where code = ${depot.code}`;
}

async function countSlots(sql, text) {
  await sql`select * from depots where slots = ${text}::int`;
}

export const tasks = {
  cache: { id: 'shipment-cache', run: async ({ error, verb, id }) => await withRedis(error, async (cache) => { await cache[verb](id, 'x'); }) },
  redisDown: { id: 'shipment-cache', run: async ({ port, id }) => { const cache = new ShipmentCache(port); try { await cache.remember(id, 1); } finally { await cache.close(); } } },
  mysql: { id: 'fleet-report', run: async ({ code, state, text }) => await openMysql(code, state, text) },
  mysqlDown: { id: 'fleet-report', run: async ({ port }) => { await mysql.createConnection({ host: '127.0.0.1', port, user: 'app' }); } },
  mongo: { id: 'fleet-ping', run: async ({ port }) => await mongoPing(port) },
  mongoUrl: { id: 'fleet-ping', run: async ({ text }) => { badMongoUrl(text); } },
  depots: {
    id: 'depots',
    run: async ({ verb, depots, text }, { pg }) =>
      await withSql(pg, async (sql) => {
        if (verb === 'add') for (const depot of depots) await addDepot(sql, depot);
        if (verb === 'move') await moveDepot(sql, depots[0]);
        if (verb === 'count') await countSlots(sql, text);
      }),
  },
};

const depot = (d, more = {}) => ({ code: d.alnum(6), city: d.city(), slots: d.int(1, 50), ...more });

export const bugs = [
  { label: 'redis wrong type', task: tasks.cache, payload: (d) => ({ verb: 'push', id: d.int(1, 999), error: 'WRONGTYPE Operation against a key holding the wrong kind of value' }) },
  { label: 'redis read only', task: tasks.cache, payload: (d) => ({ verb: 'remember', id: d.int(1, 999), error: "READONLY You can't write against a read only replica." }) },
  { label: 'redis moved', task: tasks.cache, payload: (d) => ({ verb: 'remember', id: d.int(1, 999), error: `MOVED ${d.int(1, 16000)} ${d.ip()}:6379` }) },
  { label: 'redis out of memory', task: tasks.cache, payload: (d) => ({ verb: 'remember', id: d.int(1, 999), error: "OOM command not allowed when used memory > 'maxmemory'." }) },
  { label: 'redis refused', task: tasks.redisDown, payload: (d) => ({ port: d.int(39000, 39900), id: d.int(1, 99) }) },
  { label: 'mysql too many connections', task: tasks.mysql, payload: () => ({ code: 1040, state: '08004', text: 'Too many connections' }) },
  { label: 'mysql access denied', task: tasks.mysql, payload: (d) => ({ code: 1045, state: '28000', text: `Access denied for user '${d.word()}'@'${d.ip()}' (using password: YES)` }) },
  { label: 'mysql host blocked', task: tasks.mysql, payload: (d) => ({ code: 1129, state: 'HY000', text: `Host '${d.ip()}' is blocked because of many connection errors; unblock with 'mysqladmin flush-hosts'` }) },
  { label: 'mysql refused', task: tasks.mysqlDown, payload: (d) => ({ port: d.int(39000, 39900) }) },
  { label: 'mongo refused', task: tasks.mongo, payload: (d) => ({ port: d.int(39000, 39900) }) },
  { label: 'mongo url', task: tasks.mongoUrl, payload: (d) => ({ text: `http://${d.host()}/fleet` }) },
  { label: 'depot duplicate', task: tasks.depots, payload: (d) => { const code = d.alnum(6); return { verb: 'add', depots: [depot(d, { code }), depot(d, { code })] }; } },
  { label: 'depot no city', task: tasks.depots, payload: (d) => ({ verb: 'add', depots: [depot(d, { city: null })] }) },
  { label: 'depot slots', task: tasks.depots, payload: (d) => ({ verb: 'add', depots: [depot(d, { slots: -d.int(1, 9) })] }) },
  { label: 'depot no location', task: tasks.depots, payload: (d) => ({ verb: 'move', depots: [depot(d)] }) },
  { label: 'depot bad integer', task: tasks.depots, payload: (d) => ({ verb: 'count', text: d.word() }) },
];
