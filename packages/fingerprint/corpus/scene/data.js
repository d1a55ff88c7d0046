// Seeded data for the volatile parts of a payload: the same seed gives the same run again.

const people = ['Ada Kowalski', 'Bjørn Aas', 'Chioma Okafor', 'Dmitri Volkov', "Eve O'Neill", 'Fatima Zahra', 'Gus Van Dyke'];
const mails = ['mail.test', 'example.com', 'corp.example.org', 'sub.example.co.uk', 'gmail.example'];
const cities = ['Lisbon', 'São Paulo', 'Kraków', 'Osaka', 'New Delhi', 'Accra', 'Tromsø'];
const words = ['amber', 'birch', 'cobalt', 'delta', 'ember', 'fjord', 'grove', 'harbor', 'indigo', 'juniper', 'kelp', 'lumen'];

export function dataOf(seed) {
  let state = seed >>> 0 || 1;
  const next = () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    let mixed = state ^ (state >>> 12);
    mixed = Math.imul(mixed, 0x297a2d39) >>> 0;
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
  const int = (low, high) => low + Math.floor(next() * (high - low + 1));
  const pick = (list) => list[int(0, list.length - 1)];
  const chars = (alphabet, length) => Array.from({ length }, () => alphabet[int(0, alphabet.length - 1)]).join('');
  const hex = (length) => chars('0123456789abcdef', length);
  const alnum = (length) => chars('abcdefghijklmnopqrstuvwxyz0123456789', length);
  const pad = (number) => String(number).padStart(2, '0');
  const date = () => `${int(2021, 2026)}-${pad(int(1, 12))}-${pad(int(1, 28))}`;
  return {
    int,
    pick,
    hex,
    alnum,
    date,
    float: (low, high, digits = 2) => (low + next() * (high - low)).toFixed(digits),
    id: (prefix, length = 14) => `${prefix}_${alnum(length)}`,
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
    iso: () => `${date()}T${pad(int(0, 23))}:${pad(int(0, 59))}:${pad(int(0, 59))}.${int(100, 999)}Z`,
    person: () => pick(people),
    city: () => pick(cities),
    word: () => pick(words),
    email: () => `${pick(words)}.${alnum(int(3, 8))}@${pick(mails)}`,
    ip: () => `10.${int(0, 255)}.${int(0, 255)}.${int(1, 254)}`,
    host: () => `${pick(words)}-${int(1, 99)}.internal.example`,
    path: () => `/data/${pick(words)}/${date()}/${alnum(8)}.csv`,
    sku: () => `${chars('ABCDEFGHJKLMNP', 3)}-${int(100, 99999)}`,
    iban: () => `DE${int(10, 99)}${chars('0123456789', 18)}`,
    coin: () => next() < 0.5,
  };
}
