import { describe, expect, test } from 'vitest';
import { readAddress } from './address.ts';

const hostsOf = (text: string) => readAddress(text).hosts.map(({ host, port }) => `${host} ${port}`);

describe('the hosts of an address, as libpq reads them', () => {
  test.each([
    ['postgresql://ada:pw@db/millrace', ['db 5432']],
    ['postgres://ada:pw@db:5433/millrace', ['db 5433']],
    ['postgresql://ada:pw@h1,h2,h3/millrace', ['h1 5432', 'h2 5432', 'h3 5432']],
    ['postgresql://ada:pw@h1:1,h2,h3:3/millrace', ['h1 1', 'h2 5432', 'h3 3']],
    ['postgresql://ada:pw@[::1]:1,[2001:db8::2],h3/millrace', ['::1 1', '2001:db8::2 5432', 'h3 5432']],
    ['postgresql://ada:pw@/millrace?host=h1,h2&port=1,2', ['h1 1', 'h2 2']],
    ['postgresql://ada:pw@/millrace?host=h1,h2&port=7', ['h1 7', 'h2 7']],
    ['postgresql://ada:pw@h1,h2/millrace?port=7', ['h1 7', 'h2 7']],
    ['postgresql://ada@localhost:6/millrace?host=/run/postgresql', ['/run/postgresql 6']],
    ['postgresql://ada@%2Frun%2Fpostgresql:6/millrace', ['/run/postgresql 6']],
    ['postgresql:///millrace', ['localhost 5432']],
  ])('%s', (text, hosts) => {
    expect(hostsOf(text)).toEqual(hosts);
  });
});

test('the address for the driver contains the first host, the user, the database and the remaining parameters', () => {
  const { url, connectMs } = readAddress(
    'postgresql://ada:p%40w@h1:1,h2/millrace?target_session_attrs=read-write&connect_timeout=3&sslmode=require',
  );
  expect(url.href).toBe('postgresql://ada:p%40w@h1:1/millrace?sslmode=require&host=h1&port=1');
  expect(connectMs).toBe(3_000);
});

describe('an invalid address is rejected by setting name and never quoted', () => {
  test.each([
    ['', /is not the address of a PostgreSQL database; use the form postgresql:/],
    ['mysql://ada:hunter2@db/x', /is not the address of a PostgreSQL database/],
    ['host=db password=hunter2', /is not the address of a PostgreSQL database/],
    ['postgresql://ada:hunter2@h1:1:2/x', /has an invalid host; .*IPv6 address in brackets/],
    ['postgresql://ada:hun/ter2@db/x', /has an invalid host; .*%2F/],
    ['postgresql://ada:hunter2@2001:db8::1/x', /IPv6 address in brackets/],
    ['postgresql://ada:hunter2@h1:0/x', /the port "0"; a port is a number from 1 to 65535/],
    ['postgresql://ada:hunter2@h1:99999/x', /the port "99999"/],
    ['postgresql://ada:hunter2@/x?host=h1,h2,h3&port=1,2', /has 3 hosts and 2 ports/],
    ['postgresql://ada:hunter2@h1,,h3/x', /an empty host name in its list/],
    ['postgresql://ada:hunter2@h%zz/x', /an invalid percent-encoding/],
    ['postgresql://ada:hunter2@h1,h2/x?target_session_attrs=standby', /Millrace writes.*read-write/],
    ['postgresql://ada:hunter2@h1,h2/x?target_session_attrs=leader', /unknown target_session_attrs/],
    ['postgresql://ada:hunter2@h1,h2/x?connect_timeout=soon', /connect_timeout.*whole number of seconds/],
  ])('%s', (text, message) => {
    expect(() => readAddress(text, 'DATABASE_DIRECT_URL')).toThrow(message);
    expect(() => readAddress(text, 'DATABASE_DIRECT_URL')).toThrow(/^DATABASE_DIRECT_URL /);
    expect(() => readAddress(text)).not.toThrow(/hunter2|ter2/);
  });
});
