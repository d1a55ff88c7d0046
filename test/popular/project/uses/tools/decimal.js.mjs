import { Decimal } from 'decimal.js';

export default async () => new Decimal('0.1').plus('0.2').toString();
