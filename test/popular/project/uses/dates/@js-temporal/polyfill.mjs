import { Temporal } from '@js-temporal/polyfill';

export default async () => String(Temporal.PlainDate.from('2026-01-31').add({ months: 1 }));
