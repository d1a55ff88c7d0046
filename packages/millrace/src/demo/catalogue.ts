/** The customers and products of the shop. */

export interface Customer {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

export interface Address {
  readonly street: string;
  readonly postcode: string;
  readonly city: string;
  readonly country: string;
}

export type Currency = 'EUR' | 'USD' | 'GBP' | 'JPY';

interface Household extends Customer {
  readonly address: Address;
  readonly currency: Currency;
}

export interface Product {
  readonly sku: string;
  readonly title: string;
  readonly price: number;
  readonly category: string;
}

const person = (
  id: number,
  name: string,
  [street, postcode, city, country]: readonly [string, string, string, string],
  currency: Currency,
): Household => ({
  id: `cus_${id}`,
  name,
  email: `${name
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/[^a-z ]/g, '')
    .replaceAll(' ', '.')}@mail.example`,
  address: { street, postcode, city, country },
  currency,
});

export const customers: readonly Household[] = [
  person(2001, 'Ada Okafor', ['14 Quay Street', 'BS1 4DJ', 'Bristol', 'GB'], 'GBP'),
  person(2002, 'Jonas Weber', ['Lindenallee 8', '10115', 'Berlin', 'DE'], 'EUR'),
  person(2003, 'Chloé Martin', ['12 rue des Lilas', '69003', 'Lyon', 'FR'], 'EUR'),
  person(2004, 'Haruka Sato', ['2-11 Kanda', '101-0051', 'Tokyo', 'JP'], 'JPY'),
  person(2005, 'Grace Miller', ['480 Elm Street', '04101', 'Portland', 'US'], 'USD'),
  person(2006, 'Ingrid Berg', ['Storgata 3', '0155', 'Oslo', 'NO'], 'EUR'),
  person(2007, 'Liam Walsh', ['7 Harbour Road', 'EH6 6QN', 'Edinburgh', 'GB'], 'GBP'),
  person(2008, 'Mei Tanaka', ['5-3 Naka', '460-0008', 'Nagoya', 'JP'], 'JPY'),
  person(2009, 'Noah Fischer', ['Marktplatz 21', '70173', 'Stuttgart', 'DE'], 'EUR'),
  person(2010, 'Olivia Brown', ['19 King Street', '2000', 'Sydney', 'AU'], 'USD'),
  person(2011, 'Paul Lefèvre', ['3 quai Sud', '33000', 'Bordeaux', 'FR'], 'EUR'),
  person(2012, 'Sofia Rossi', ['88 Lake Avenue', '60611', 'Chicago', 'US'], 'USD'),
];

export const products: readonly Product[] = [
  { sku: 'MUG-11', title: 'Stoneware mug', price: 18, category: 'kitchen' },
  { sku: 'BOWL-24', title: 'Salad bowl', price: 42, category: 'kitchen' },
  { sku: 'KNIFE-8', title: 'Bread knife', price: 64, category: 'kitchen' },
  { sku: 'PAN-28', title: 'Cast iron pan', price: 96, category: 'kitchen' },
  { sku: 'LAMP-104', title: 'Reading lamp', price: 128, category: 'light' },
  { sku: 'LAMP-207', title: 'Pendant lamp', price: 240, category: 'light' },
  { sku: 'BULB-4', title: 'Warm bulb', price: 12, category: 'light' },
  { sku: 'POT-30', title: 'Terracotta pot', price: 26, category: 'garden' },
  { sku: 'HOSE-15', title: 'Garden hose', price: 54, category: 'garden' },
  { sku: 'BENCH-2', title: 'Oak bench', price: 320, category: 'garden' },
];
