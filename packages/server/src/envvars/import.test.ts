import { parse } from 'dotenv';
import { describe, expect, test } from 'vitest';
import { variableServer, startVariableServer, type VariableServer } from './testing/variable-server.ts';

const ok = { status: 200, body: { success: true } };

const valuesOf = async ({ call }: VariableServer) =>
  ((await call('GET', 'envvars')).body as { variables: Record<string, string> }).variables;

const importing = ({ call }: VariableServer, body: unknown) => call('POST', 'envvars/prod/import', { body });

const form = (text: string | Buffer, fields: Record<string, string> = {}) => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  data.set('variables', new Blob([text]), '.env');
  return data;
};

test('sets all variables of a record or a list', async () => {
  const served = await variableServer();
  expect(await importing(served, { variables: { A: '1', B: '2' } })).toEqual(ok);
  expect(await importing(served, { variables: [{ name: 'C', value: '3' }] })).toEqual(ok);
  expect(await valuesOf(served)).toEqual({ A: '1', B: '2', C: '3' });
});

test('without override, nothing is written if a variable exists, and all existing ones are named', async () => {
  const served = await variableServer();
  await importing(served, { variables: { A: '1', B: '2' } });
  expect(await importing(served, { variables: { A: 'x', C: 'x', B: 'x' } })).toEqual({
    status: 400,
    body: {
      error: expect.stringContaining('override') as string,
      variableErrors: [
        { key: 'A', error: 'Variable already set in Production.' },
        { key: 'B', error: 'Variable already set in Production.' },
      ],
    },
  });
  expect(await valuesOf(served)).toEqual({ A: '1', B: '2' });
  expect(await importing(served, { variables: { A: 'x', C: 'x' }, override: true, isSecret: true })).toEqual(
    ok,
  );
  expect(await valuesOf(served)).toEqual({ A: 'x', B: '2', C: 'x' });
});

test('unnamed and reserved variables are ignored, unless no others remain', async () => {
  const served = await variableServer();
  const dropped = { ' ': 'x', MILLRACE_API_URL: 'x', TRIGGER_SECRET_KEY: 'x' };
  expect(await importing(served, { variables: { ...dropped, A: '1' } })).toEqual(ok);
  expect(await valuesOf(served)).toEqual({ A: '1' });
  expect(await importing(served, { variables: dropped })).toEqual({
    status: 400,
    body: {
      error: expect.stringMatching(
        /^You must set at least one valid variable\. .*MILLRACE_API_URL/,
      ) as string,
    },
  });
});

test('every invalid or duplicate variable is named, and nothing is written', async () => {
  const served = await variableServer();
  const variables = [
    { name: 'A', value: '1' },
    { name: 'A', value: '2' },
    { name: '2B', value: '1' },
    { name: 'C', value: 'x\0' },
  ];
  const refused = await importing(served, { variables });
  expect(refused).toMatchObject({
    status: 400,
    body: { variableErrors: [{ key: 'A' }, { key: '2B' }, { key: 'C' }] },
  });
  expect(await valuesOf(served)).toEqual({});
});

test.each([
  ['no variables', {}],
  ['a value that is not a string', { variables: { A: 1 } }],
  ['an override that is not a boolean', { variables: { A: '1' }, override: 'maybe' }],
  ['a parent for an environment without one', { variables: { A: '1' }, parentVariables: { B: '1' } }],
])('%s is a 400', async (_, body) => {
  const served = await variableServer();
  expect((await importing(served, body)).status).toBe(400);
  expect(await valuesOf(served)).toEqual({});
});

function twice(...texts: readonly string[]): FormData {
  const body = new FormData();
  for (const text of texts) body.append('variables', new File([text], '.env'));
  return body;
}

describe('a dotenv file', () => {
  const files: readonly (readonly [string, string])[] = [
    ['quotes', `A="a b"\nB='c # d'\nC=\`e'f"g\`\nD="line\\nbreak"\nE='line\\nbreak'`],
    ['exports', 'export A=1\n  export   B = 2  '],
    ['comments', '# A=0\nA=1 # one\nB="2 # two" # more\n\n#B=3'],
    ['text that looks like interpolation', 'A=1\nB=$A\nC="${A}x"'],
    ['CRLF', 'A=1\r\nB="two\r\nlines"\r\nC=3\r\n'],
    ['several lines in quotes', 'KEY="-----BEGIN-----\nabc\n-----END-----"\nA=1'],
    ['empty and repeated lines', 'A=\nB=1\nB=2\nC='],
    ['only empty values', 'A=\nB=""\nC=\'  \'\n'],
    ['equals signs and colons', 'A=a=b==\nB: yaml'],
  ];

  test.each(files)('with %s is parsed as by the dotenv library', async (_, text) => {
    const served = await variableServer();
    expect(await importing(served, form(text))).toEqual(ok);
    const read = parse(text);
    expect(Object.keys(read).length).toBeGreaterThan(0);
    expect(await valuesOf(served)).toEqual(read);
  });

  test('accepts override as a field, and a byte order mark', async () => {
    const served = await variableServer();
    await importing(served, { variables: { A: '1' } });
    expect((await importing(served, form('A=2'))).status).toBe(400);
    expect(await importing(served, form('\uFEFFA=2', { override: 'true', isSecret: 'true' }))).toEqual(ok);
    expect((await served.call('GET', 'envvars/prod')).body).toEqual([
      { name: 'A', value: '<redacted>', isSecret: true },
    ]);
  });

  test.each([
    ['binary', form(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x00, 0xff]))],
    ['missing', new FormData()],
    ['not dotenv', form('hello, world\n')],
    ['one of two', twice('A=1', 'B=2')],
  ])('that is %s is a 400', async (_, body) => {
    const served = await variableServer();
    const refused = await importing(served, body);
    expect(refused).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^Invalid file|not valid UTF-8/) as string },
    });
  });

  test('in a body that is not a form is a 400', async () => {
    const served = await variableServer();
    const refused = await served.call('POST', 'envvars/prod/import', {
      body: 'A=1',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    });
    expect(refused.status).toBe(400);
  });
});

test('a thousand variables are one transaction and one revision', async () => {
  const served = await startVariableServer();
  const variables = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, at) => [`NAME_${at}`, `value ${at} `.repeat(5)]),
  );
  expect(await importing(served, { variables })).toEqual(ok);
  expect(await valuesOf(served)).toEqual(variables);
  const counts = await served.sql`
    select (select count(*)::int from variable_revisions) as revisions, count(distinct xmin::text)::int as transactions
      from variables`;
  expect([...counts]).toEqual([{ revisions: 1, transactions: 1 }]);
});
