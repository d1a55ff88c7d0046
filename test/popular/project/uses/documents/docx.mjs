import { Document, Packer, Paragraph } from 'docx';

export default async () => {
  const document = new Document({ sections: [{ children: [new Paragraph('Hello')] }] });
  return (await Packer.toBuffer(document)).subarray(0, 2).toString('latin1');
};
