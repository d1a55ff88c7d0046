import Airtable from 'airtable';

export default async () => new Airtable({ apiKey: 'none' }).base('a')('b').name;
