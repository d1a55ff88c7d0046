import { buffer } from 'node:stream/consumers';
import PDFDocument from 'pdfkit';

/** The standard fonts are files of the package. */
export default async () => {
  const document = new PDFDocument({ info: { CreationDate: new Date(0) } });
  document.font('Times-Roman').text('Hello');
  document.font('Helvetica-Bold').text('World');
  document.end();
  const bytes = await buffer(document);
  return [bytes.subarray(0, 5).toString('latin1'), bytes.length > 800];
};
