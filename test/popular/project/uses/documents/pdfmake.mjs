import { createRequire } from 'node:module';
import pdfmake from 'pdfmake';

export default async () => {
  pdfmake.setFonts({
    Courier: {
      normal: 'Courier',
      bold: 'Courier-Bold',
      italics: 'Courier-Oblique',
      bolditalics: 'Courier-BoldOblique',
    },
  });
  pdfmake.setUrlAccessPolicy?.(() => false);
  const document = pdfmake.createPdf({ content: ['Hello'], defaultStyle: { font: 'Courier' } });
  const bytes = await document.getBuffer();
  return [createRequire.name, bytes.subarray(0, 5).toString('latin1')];
};
