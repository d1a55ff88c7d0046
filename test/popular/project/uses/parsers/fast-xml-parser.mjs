import { XMLParser } from 'fast-xml-parser';

export default async () => new XMLParser().parse('<a><b>1</b></a>');
