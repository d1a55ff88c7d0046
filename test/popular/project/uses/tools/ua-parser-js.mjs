import { UAParser } from 'ua-parser-js';

export default async () => new UAParser('Mozilla/5.0 (Windows NT 10.0) Firefox/120.0').getBrowser().name;
