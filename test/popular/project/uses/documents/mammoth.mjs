import { Document, Packer, Paragraph } from 'docx';
import mammoth from 'mammoth';

export default async () => {
  const document = new Document({ sections: [{ children: [new Paragraph('Hello')] }] });
  const { value } = await mammoth.convertToHtml({ buffer: await Packer.toBuffer(document) });
  return value;
};
