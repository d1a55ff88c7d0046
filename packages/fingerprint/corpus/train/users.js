import pg from 'pg';

function clientFor(url) {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  return client;
}

async function withDatabase(url, work) {
  const client = clientFor(url);
  await client.connect();
  try {
    await client.query(`create temp table users (id int primary key, email text not null unique, name text not null, age int check (age > 0), ref uuid)`);
    return await work(client);
  } finally {
    await client.end();
  }
}

async function insertUser(client, user) {
  await client.query('insert into users (id, email, name, age) values ($1, $2, $3, $4)', [user.id, user.email, user.name, user.age]);
}

async function importUsers(client, users) {
  for (const user of users) await insertUser(client, user);
}

async function findByRef(client, ref) {
  return await client.query('select * from users where ref = $1', [ref]);
}

async function findByAge(client, age) {
  return await client.query('select * from users where age = $1', [age]);
}

async function readReport(client, table) {
  return await client.query(`select * from ${table}`);
}

class UserStore {
  constructor(client) {
    this.client = client;
  }

  async rename(id, name) {
    await this.client.query('update users set nickname = $2 where id = $1', [id, name]);
  }

  async purge() {
    await this.client.query('selekt * from users');
  }

  async slow(ms) {
    await this.client.query(`set statement_timeout = ${ms}`);
    await this.client.query('select pg_sleep(2)');
  }
}

export const importTask = { id: 'import-users', run: async ({ users }, { pg: url }) => await withDatabase(url, (client) => importUsers(client, users)) };
export const createUser = { id: 'create-user', run: async ({ user }, { pg: url }) => await withDatabase(url, async (client) => await insertUser(client, user)) };
export const lookup = {
  id: 'lookup-user',
  run: async ({ ref, age, table }, { pg: url }) =>
    await withDatabase(url, async (client) => {
      if (ref) await findByRef(client, ref);
      if (age) await findByAge(client, age);
      if (table) await readReport(client, table);
    }),
};
export const store = {
  id: 'user-store',
  run: async ({ verb, argument }, { pg: url }) => await withDatabase(url, async (client) => await new UserStore(client)[verb](argument, argument)),
};
export const unreachable = {
  id: 'warm-cache',
  run: async ({ host, port }) => {
    const client = new pg.Client({ host, port, user: 'app', password: 'x', database: 'app', connectionTimeoutMillis: 500 });
    await client.connect();
  },
};
export const wrongRole = {
  id: 'rotate-credentials',
  run: async ({ role }, { pg: url }) => {
    const target = new URL(url);
    const client = clientFor(`postgresql://${role}@localhost:${target.port}/postgres`);
    await client.connect();
  },
};
export const pooled = {
  id: 'pooled-report',
  run: async ({ table }, { pg: url }) => {
    const pool = new pg.Pool({ connectionString: url });
    try {
      await pool.query(`select * from ${table}`);
    } finally {
      await pool.end();
    }
  },
};

const user = (d, changes = {}) => ({ id: d.int(1, 9999), email: d.email(), name: d.person(), age: d.int(18, 90), ...changes });

export const bugs = [
  { label: 'duplicate e-mail', task: importTask, payload: (d) => { const email = d.email(); return { users: [user(d, { id: 1, email }), user(d, { id: 2, email })] }; } },
  { label: 'duplicate id', task: importTask, payload: (d) => { const id = d.int(1, 99999); return { users: [user(d, { id }), user(d, { id })] }; } },
  { label: 'null e-mail', task: createUser, payload: (d) => ({ user: user(d, { email: null }) }) },
  { label: 'null name', task: createUser, payload: (d) => ({ user: user(d, { name: null }) }) },
  { label: 'age check', task: createUser, payload: (d) => ({ user: user(d, { age: -d.int(1, 20) }) }) },
  { label: 'age out of range', task: createUser, payload: (d) => ({ user: user(d, { age: 10 ** 10 + d.int(1, 999999) }) }) },
  { label: 'invalid uuid', task: lookup, payload: (d) => ({ ref: d.alnum(d.int(4, 12)) }) },
  { label: 'invalid integer', task: lookup, payload: (d) => ({ age: d.word() }) },
  { label: 'no relation invoices', task: lookup, payload: () => ({ table: 'invoices' }) },
  { label: 'no relation payments', task: lookup, payload: () => ({ table: 'payments' }) },
  { label: 'no column nickname', task: store, payload: (d) => ({ verb: 'rename', argument: d.int(1, 99) }) },
  { label: 'syntax error', task: store, payload: () => ({ verb: 'purge' }) },
  { label: 'statement timeout', task: store, payload: (d) => ({ verb: 'slow', argument: d.int(5, 60) }) },
  { label: 'pg refused', task: unreachable, payload: (d) => ({ host: `127.${d.int(0, 255)}.${d.int(0, 255)}.${d.int(1, 250)}`, port: d.int(39000, 39900) }) },
  { label: 'pg host not found', task: unreachable, payload: (d) => ({ host: `${d.word()}-${d.int(1, 99)}.invalid`, port: 5432 }) },
  { label: 'pool no relation', task: pooled, payload: () => ({ table: 'reports' }) },
];
