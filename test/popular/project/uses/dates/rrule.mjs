import rrule from 'rrule';

export default async () => new rrule.RRule({ freq: rrule.RRule.DAILY, count: 2, dtstart: new Date(0) }).all();
