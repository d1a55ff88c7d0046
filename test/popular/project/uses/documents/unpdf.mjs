import { extractText } from 'unpdf';
import { helloPdf } from '../../support/hello-pdf.mjs';

export default async () => (await extractText(helloPdf(), { mergePages: true })).text;
