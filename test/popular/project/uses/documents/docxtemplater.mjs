import { Document, Packer, Paragraph } from 'docx';
import Docxtemplater from 'docxtemplater';
import PizZip from 'pizzip';

export default async () => {
  const document = new Document({ sections: [{ children: [new Paragraph('Hello {name}')] }] });
  const template = new Docxtemplater(new PizZip(await Packer.toBuffer(document)));
  template.render({ name: 'Ada' });
  return template.getFullText();
};
