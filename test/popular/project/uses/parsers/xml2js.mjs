import { parseStringPromise } from 'xml2js';

export default async () => parseStringPromise('<a><b>1</b></a>');
